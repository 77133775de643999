# Shortens the build (docs/adr/0011-build-times.md).
#
# Headers that most files of a kind include are parsed once for all of them. A kind is a list of
# headers; callslip_precompile() lets a target's files begin with the parsed headers. The parse
# depends on the flags, so a kind is parsed once for each set of them (link-time optimisation, tests
# without optimisation). The headers are those of other projects and of generated code, which seldom
# change. A file still includes each header that it uses: the clang-tsa preset builds without
# precompiled headers.

# clang is there to find mistakes, and has to find a missing include.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  option(CALLSLIP_PRECOMPILED "Parse common headers once, and compile tests in groups" ON)
endif()

# ccache keeps and shares precompiled headers if the compiler names the header in its output.
if(CALLSLIP_PRECOMPILED)
  add_compile_options(-fpch-preprocess)
endif()

set(CALLSLIP_HEADERS_base
  <algorithm> <array> <atomic> <cstddef> <cstdint> <cstdio> <cstdlib> <deque> <fstream> <functional>
  <limits> <map> <memory> <optional> <set> <string> <thread> <tuple> <utility> <variant> <vector>
  <unistd.h>
  <absl/algorithm/container.h> <absl/base/thread_annotations.h> <absl/cleanup/cleanup.h>
  <absl/container/btree_map.h> <absl/container/btree_set.h> <absl/container/flat_hash_map.h>
  <absl/container/flat_hash_set.h> <absl/container/inlined_vector.h>
  <absl/container/node_hash_map.h> <absl/functional/any_invocable.h> <absl/status/status.h>
  <absl/status/statusor.h> <absl/strings/ascii.h> <absl/strings/escaping.h> <absl/strings/match.h>
  <absl/strings/numbers.h> <absl/strings/str_cat.h> <absl/strings/str_format.h>
  <absl/strings/str_join.h> <absl/strings/str_split.h> <absl/strings/string_view.h>
  <absl/strings/strip.h> <absl/synchronization/mutex.h> <absl/time/time.h>)

set(messages
  <callslip/tracker/v1/admin_service.pb.h> <callslip/tracker/v1/annotation_service.pb.h>
  <callslip/tracker/v1/command_service.pb.h> <callslip/tracker/v1/queue_service.pb.h>
  <callslip/tracker/v1/session_service.pb.h> <callslip/tracker/v1/worker_service.pb.h>)
set(stubs ${messages})
list(TRANSFORM stubs REPLACE "pb.h" "grpc.pb.h")
set(asio
  <boost/asio/any_io_executor.hpp> <boost/asio/as_tuple.hpp> <boost/asio/awaitable.hpp>
  <boost/asio/cancellation_signal.hpp> <boost/asio/co_spawn.hpp> <boost/asio/dispatch.hpp>
  <boost/asio/io_context.hpp> <boost/asio/ip/tcp.hpp> <boost/asio/post.hpp>
  <boost/asio/steady_timer.hpp> <boost/asio/this_coro.hpp> <boost/asio/use_awaitable.hpp>)
set(testing <gmock/gmock.h> <gtest/gtest.h>)

set(CALLSLIP_HEADERS_messages ${CALLSLIP_HEADERS_base} ${messages})
set(CALLSLIP_HEADERS_rpc ${CALLSLIP_HEADERS_base} <grpcpp/grpcpp.h> ${stubs})
set(CALLSLIP_HEADERS_web ${CALLSLIP_HEADERS_messages} <nlohmann/json.hpp> ${asio})
set(CALLSLIP_HEADERS_test ${CALLSLIP_HEADERS_base} <nlohmann/json.hpp> ${testing})
set(CALLSLIP_HEADERS_rpc_test ${CALLSLIP_HEADERS_rpc} <google/protobuf/text_format.h> ${testing})
set(CALLSLIP_HEADERS_web_test ${CALLSLIP_HEADERS_web} ${testing})

# The targets that provide a kind's headers.
set(CALLSLIP_DEPS_messages callslip_messages)
set(CALLSLIP_DEPS_rpc callslip_stubs)
set(CALLSLIP_DEPS_web callslip_messages Boost::headers nlohmann_json::nlohmann_json)
set(CALLSLIP_DEPS_test GTest::gmock nlohmann_json::nlohmann_json)
set(CALLSLIP_DEPS_rpc_test callslip_stubs GTest::gmock)
set(CALLSLIP_DEPS_web_test ${CALLSLIP_DEPS_web} GTest::gmock)

# Tests are compiled without optimisation where they are only run, not measured. They are compiled
# without line numbers, since GoogleTest prints its own. That takes half the time. The code under
# test has both, except inline code in headers.
if(CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo" AND NOT CALLSLIP_SANITIZE)
  set(CALLSLIP_UNOPTIMISED -O0 -g0)
endif()

# callslip_group(<target> <base> <size> <variable> <file>...): sets <variable> to files that each
# include <size> of the given ones, to be compiled in their place. Not CMake's UNITY_BUILD, which
# includes them by their absolute paths: another clone would not find them in ccache. <base> is a
# folder above all of them, and an include directory of the target.
function(callslip_group target base size variable)
  if(NOT CALLSLIP_PRECOMPILED)
    set(${variable} ${ARGN} PARENT_SCOPE)
    return()
  endif()
  set(groups)
  set(count 0)
  foreach(file ${ARGN})
    math(EXPR number "${count} / ${size}")
    math(EXPR count "${count} + 1")
    set(group ${CMAKE_CURRENT_BINARY_DIR}/groups/${target}_${number}.cc)
    if(NOT group IN_LIST groups)
      list(APPEND groups ${group})
      set(lines_of_${group})
    endif()
    file(RELATIVE_PATH path ${base} ${file})
    string(APPEND lines_of_${group} "#include \"${path}\"\n")
    # Before a generated file exists, the compiler can't list its dependencies.
    set_property(SOURCE ${group} APPEND PROPERTY OBJECT_DEPENDS ${file})
  endforeach()
  foreach(group ${groups})
    file(CONFIGURE OUTPUT ${group} CONTENT "${lines_of_${group}}" @ONLY)
  endforeach()
  set(${variable} ${groups} PARENT_SCOPE)
endfunction()

# callslip_precompile(<target> <kind> [UNOPTIMISED]): lets <target> begin with the parsed headers of
# <kind>; UNOPTIMISED for a target that is compiled without optimisation.
function(callslip_precompile target kind)
  if(NOT CALLSLIP_PRECOMPILED)
    return()
  endif()
  cmake_parse_arguments(ARG "UNOPTIMISED" "" "" ${ARGN})
  set(parsed precompiled_${kind})
  if(ARG_UNOPTIMISED AND CALLSLIP_UNOPTIMISED)
    string(APPEND parsed _unoptimised)
  endif()
  if(CMAKE_INTERPROCEDURAL_OPTIMIZATION)
    string(APPEND parsed _lto)
  endif()
  if(NOT TARGET ${parsed})
    # A target has to have a source.
    file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/precompiled/${parsed}.cc CONTENT "")
    add_library(${parsed} STATIC ${CMAKE_BINARY_DIR}/precompiled/${parsed}.cc)
    target_link_libraries(${parsed} PRIVATE absl::strings ${CALLSLIP_DEPS_${kind}})
    target_precompile_headers(${parsed} PRIVATE ${CALLSLIP_HEADERS_${kind}})
    if(ARG_UNOPTIMISED)
      target_compile_options(${parsed} PRIVATE ${CALLSLIP_UNOPTIMISED})
    endif()
  endif()
  target_precompile_headers(${target} REUSE_FROM ${parsed})
endfunction()

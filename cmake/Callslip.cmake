# Compiler settings and the functions that every folder's CMakeLists.txt uses.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)

# Line numbers are enough for a stack trace; full debug information doubles the link time. A higher
# optimisation level takes up to a third longer to compile, for programs that are neither shipped
# nor measured.
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O1 -g1")

# The same flag for all targets: it defines a macro, and a precompiled header depends on it.
add_compile_options(-pthread)

# A released program is the same in whatever folder it is built.
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  add_compile_options(-ffile-prefix-map=${CMAKE_SOURCE_DIR}=.)
endif()

# g++ collects garbage whenever its heap has grown by a percentage. With precompiled headers it
# scans hundreds of megabytes each time and frees next to nothing.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options("SHELL:--param ggc-min-heapsize=1000000")
endif()

add_library(callslip_warnings INTERFACE)
target_compile_options(callslip_warnings INTERFACE
  -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wimplicit-fallthrough -Werror
  # Designated initializers leave members at their defaults on purpose.
  -Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  target_compile_options(callslip_warnings INTERFACE -Wthread-safety)
else()
  # g++ 12 reports the operators with which Asio's coroutine frames recycle their memory as a pair
  # that does not match.
  target_compile_options(callslip_warnings INTERFACE -Wno-mismatched-new-delete)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND
   (CALLSLIP_SANITIZE OR CMAKE_BUILD_TYPE STREQUAL "Release"))
  # g++ 12 reports false findings of these kinds once sanitizers or -O3 change its inlining.
  target_compile_options(callslip_warnings INTERFACE -Wno-maybe-uninitialized -Wno-array-bounds
                         -Wno-stringop-overflow)
endif()

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CALLSLIP_SANITIZE STREQUAL "thread")
  # Asio uses fences, which ThreadSanitizer does not model: tests of Asio don't run under it.
  target_compile_options(callslip_warnings INTERFACE -Wno-tsan)
endif()

if(CALLSLIP_SANITIZE)
  add_compile_options(-fsanitize=${CALLSLIP_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${CALLSLIP_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    # clang 14 cannot mark the entries of coroutines as this check requires.
    add_compile_options(-fno-sanitize=function)
  endif()
endif()

include(Precompiled)

if(CALLSLIP_PRECOMPILED)
  # In a file that a group includes, g++ reports a coroutine's frame as a type of a header.
  target_compile_options(callslip_warnings INTERFACE -Wno-subobject-linkage)
endif()

# callslip_library(<name> SOURCES <file>... [DEPS <target>...] [HEADERS <kind>]): HEADERS as in
# Precompiled.cmake; the default is `base`.
function(callslip_library name)
  cmake_parse_arguments(ARG "" "HEADERS" "SOURCES;DEPS" ${ARGN})
  list(TRANSFORM ARG_SOURCES PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  # Six files together take as long as two or three alone, and that is still seconds.
  callslip_group(${name} ${CMAKE_SOURCE_DIR}/services 6 sources ${ARG_SOURCES})
  add_library(${name} STATIC ${sources})
  target_include_directories(${name} PUBLIC ${CMAKE_SOURCE_DIR}/services)
  target_link_libraries(${name} PUBLIC ${ARG_DEPS} PRIVATE callslip_warnings)
  if(NOT ARG_HEADERS)
    set(ARG_HEADERS base)
  endif()
  callslip_precompile(${name} ${ARG_HEADERS})
endfunction()

# callslip_message_library(<name> SOURCES <file>...): only the messages. Protos are imported, and
# their headers included, by their paths from the calling folder.
function(callslip_message_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC protobuf::libprotobuf)
  target_include_directories(${name} SYSTEM PUBLIC ${CMAKE_CURRENT_BINARY_DIR})
  protobuf_generate(TARGET ${name} LANGUAGE cpp IMPORT_DIRS ${CMAKE_CURRENT_SOURCE_DIR})
endfunction()

# callslip_stub_library(<name> MESSAGES <target> SOURCES <file>...): the stubs that gRPC's clients
# need besides the messages of <target>. Our servers need none of them
# (tracker/server/rpc_service.h).
function(callslip_stub_library name)
  cmake_parse_arguments(ARG "" "MESSAGES" "SOURCES" ${ARGN})
  protobuf_generate(OUT_VAR generated LANGUAGE grpc PROTOS ${ARG_SOURCES}
    IMPORT_DIRS ${CMAKE_CURRENT_SOURCE_DIR}
    PLUGIN "protoc-gen-grpc=${GRPC_CPP_PLUGIN}"
    GENERATE_EXTENSIONS .grpc.pb.h .grpc.pb.cc)
  set(headers ${generated})
  list(FILTER headers INCLUDE REGEX "\\.h$")
  list(FILTER generated EXCLUDE REGEX "\\.h$")
  # The stubs include the same headers and little else, and change together.
  callslip_group(${name} ${CMAKE_CURRENT_BINARY_DIR} 100 sources ${generated})
  add_library(${name} STATIC ${sources} ${headers})
  target_link_libraries(${name} PUBLIC ${ARG_MESSAGES} gRPC::grpc++)
endfunction()

# callslip_methods(<header> <proto>...): a header with the method of each request type: its full
# name, its response type, and whether it answers with a stream. A method with a stream of requests
# is omitted. `rpc NAME(REQUEST) returns (RESPONSE)` has to be on one line of the proto.
function(callslip_methods header)
  set(includes)
  set(methods)
  foreach(proto ${ARGN})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${proto})
    string(REPLACE ".proto" ".pb.h" include ${proto})
    string(APPEND includes "#include \"${include}\"\n")
    file(READ ${proto} text)
    string(REGEX MATCH "package ([a-z0-9_.]+);" found "${text}")
    set(package ${CMAKE_MATCH_1})
    string(REGEX MATCH "\nservice ([A-Za-z]+)" found "${text}")
    set(service ${CMAKE_MATCH_1})
    string(REGEX MATCHALL "rpc [A-Za-z]+\\([A-Za-z]+\\) returns \\([A-Za-z ]+\\)" rpcs "${text}")
    string(REGEX MATCHALL "\n  rpc [A-Za-z]+\\((stream )?" declared "${text}")
    list(FILTER declared EXCLUDE REGEX "stream ")
    list(LENGTH declared count)
    list(LENGTH rpcs found)
    if(NOT count EQUAL found)
      message(FATAL_ERROR "${proto}: ${count} methods, of which ${found} are each in one line")
    endif()
    string(REGEX MATCHALL "\nservice " services "${text}")
    list(LENGTH services count)
    if(count GREATER 1)
      message(FATAL_ERROR "${proto} has more than one service: move each to a file of its own")
    endif()
    foreach(rpc ${rpcs})
      string(REGEX MATCH "rpc ([A-Za-z]+)\\(([A-Za-z]+)\\) returns \\((stream )?([A-Za-z]+)\\)" found "${rpc}")
      set(name ${CMAKE_MATCH_1})
      set(request ${CMAKE_MATCH_2})
      set(response ${CMAKE_MATCH_4})
      if(CMAKE_MATCH_3)
        set(streams true)
      else()
        set(streams false)
      endif()
      string(APPEND methods
        "template <>\nstruct MethodOf<${request}> {\n"
        "  using Response = ${response};\n"
        "  static constexpr char kName[] = \"${package}.${service}.${name}\";\n"
        "  static constexpr bool kStreams = ${streams};\n};\n")
    endforeach()
  endforeach()
  string(REPLACE "." "::" namespace ${package})
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${header} CONTENT
    "#pragma once\n${includes}\nnamespace ${namespace} {\n\ntemplate <typename Request>\nstruct MethodOf;\n${methods}\n}\n"
    @ONLY)
endfunction()

# callslip_binary(<name> SOURCES <file>... [DEPS <target>...]): an installed program in bin/.
function(callslip_binary name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/services)
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} callslip_warnings)
  install(TARGETS ${name} RUNTIME DESTINATION bin COMPONENT programs)
endfunction()

# All test programs that callslip_test() makes.
add_custom_target(cpp_tests)

# callslip_test(<name> SOURCES <file>... [DEPS <target>...] [HEADERS <kind>] [LABELS <label>]
# [PREFIX <text>] [WHOLE]): one gtest program, listed test by test, or as one test with WHOLE.
# PREFIX begins the names of its tests, for programs that share a source. HEADERS as in
# Precompiled.cmake; the default is `test`. The label is `cpp` or `opaque`. `opaque` keeps a test
# from ThreadSanitizer: the test uses gRPC or Asio, and ThreadSanitizer can't see their
# synchronisation. A test waits without a deadline for an event that has to come; ctest ends a
# hanging test after ten minutes. A test takes two of the slots of `./dev test`, which is one core.
function(callslip_test name)
  if(NOT CALLSLIP_BUILD_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "WHOLE" "HEADERS;PREFIX" "SOURCES;DEPS;LABELS" ${ARGN})
  if(NOT ARG_HEADERS)
    set(ARG_HEADERS test)
  endif()
  if(NOT ARG_LABELS)
    set(ARG_LABELS cpp)
  endif()
  list(TRANSFORM ARG_SOURCES PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  # The files instantiate much the same templates: eight together take as long as three alone.
  callslip_group(${name} ${CMAKE_SOURCE_DIR} 8 sources ${ARG_SOURCES})
  add_executable(${name} ${sources})
  target_include_directories(${name} PRIVATE
    ${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/services ${CMAKE_SOURCE_DIR}/tests)
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} GTest::gmock GTest::gtest_main callslip_warnings)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/test_bin)
  target_compile_options(${name} PRIVATE ${CALLSLIP_UNOPTIMISED})
  callslip_precompile(${name} ${ARG_HEADERS} UNOPTIMISED)
  add_dependencies(cpp_tests ${name})
  if(ARG_WHOLE)
    add_test(NAME ${name} COMMAND ${name} --gtest_brief=1)
    set_tests_properties(${name} PROPERTIES
      TIMEOUT 600 PROCESSORS 2 LABELS "${ARG_LABELS}")
    return()
  endif()
  gtest_discover_tests(${name} TEST_PREFIX "${ARG_PREFIX}" NO_PRETTY_VALUES DISCOVERY_TIMEOUT 60
    PROPERTIES TIMEOUT 600 PROCESSORS 2 LABELS "${ARG_LABELS}")
endfunction()

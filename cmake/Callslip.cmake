# Compiler settings and the functions that every folder's CMakeLists.txt uses.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)

# Line numbers are enough for a stack trace; full debug information doubles the link time.
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1")

add_library(callslip_warnings INTERFACE)
target_compile_options(callslip_warnings INTERFACE
  -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wimplicit-fallthrough -Werror
  # Designated initializers leave members at their defaults on purpose.
  -Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  target_compile_options(callslip_warnings INTERFACE -Wthread-safety)
else()
  # g++ 12 takes the operators with which Asio's coroutine frames recycle their memory for a pair
  # that does not match.
  target_compile_options(callslip_warnings INTERFACE -Wno-mismatched-new-delete)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CALLSLIP_SANITIZE)
  # g++ 12 reports false findings of these kinds once sanitizers change its inlining.
  target_compile_options(callslip_warnings INTERFACE -Wno-maybe-uninitialized -Wno-array-bounds
                         -Wno-stringop-overflow)
endif()

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CALLSLIP_SANITIZE STREQUAL "thread")
  # Asio uses fences, which ThreadSanitizer does not model: its tests don't run under it.
  target_compile_options(callslip_warnings INTERFACE -Wno-tsan)
endif()

if(CALLSLIP_SANITIZE)
  add_compile_options(-fsanitize=${CALLSLIP_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${CALLSLIP_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    # clang 14 cannot mark the entries of coroutines as this check wants them.
    add_compile_options(-fno-sanitize=function)
  endif()
endif()

# callslip_library(<name> SOURCES <file>... [DEPS <target>...])
function(callslip_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_include_directories(${name} PUBLIC ${CMAKE_SOURCE_DIR}/services)
  target_link_libraries(${name} PUBLIC ${ARG_DEPS} PRIVATE callslip_warnings)
endfunction()

# callslip_message_library(<name> SOURCES <file>...): messages alone. Protos are imported, and their
# headers included, by their paths from the folder that calls this.
function(callslip_message_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC protobuf::libprotobuf)
  target_include_directories(${name} SYSTEM PUBLIC ${CMAKE_CURRENT_BINARY_DIR})
  protobuf_generate(TARGET ${name} LANGUAGE cpp IMPORT_DIRS ${CMAKE_CURRENT_SOURCE_DIR})
endfunction()

# callslip_proto_library(<name> SOURCES <file>...): messages and stubs.
function(callslip_proto_library name)
  callslip_message_library(${name} ${ARGN})
  target_link_libraries(${name} PUBLIC gRPC::grpc++)
  protobuf_generate(TARGET ${name} LANGUAGE grpc
    IMPORT_DIRS ${CMAKE_CURRENT_SOURCE_DIR}
    PLUGIN "protoc-gen-grpc=${GRPC_CPP_PLUGIN}"
    GENERATE_EXTENSIONS .grpc.pb.h .grpc.pb.cc)
endfunction()

# callslip_binary(<name> SOURCES <file>... [DEPS <target>...]): an installed program in bin/.
function(callslip_binary name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/services)
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} callslip_warnings)
  install(TARGETS ${name} RUNTIME DESTINATION bin COMPONENT programs)
endfunction()

# callslip_test(<name> SOURCES <file>... [DEPS <target>...] [LABELS <label>...] [TIMEOUT <seconds>]):
# one gtest program, listed test by test. The label `opaque` keeps it from ThreadSanitizer: it goes
# through gRPC or Asio, whose synchronisation that can't see. A test has a minute unless it says.
function(callslip_test name)
  if(NOT CALLSLIP_BUILD_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;DEPS;LABELS" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 60)
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/services ${CMAKE_SOURCE_DIR}/tests)
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} GTest::gmock GTest::gtest_main callslip_warnings)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/test_bin)
  gtest_discover_tests(${name} NO_PRETTY_VALUES DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS "${ARG_LABELS}")
endfunction()

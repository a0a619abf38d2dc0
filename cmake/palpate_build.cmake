# Flags for the project's own code, and palpate_layer(), which makes one static library and one test program a layer.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

find_program(PALPATE_CCACHE ccache)
if(PALPATE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Without these sloppinesses ccache refuses every file that uses a precompiled header.
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${PALPATE_CCACHE})
endif()

add_library(palpate_flags INTERFACE)
# No contraction: whether a*b+c becomes one rounding or two must not depend on what the optimiser inlined, or lockstep
# runs of two builds would differ. Kernels that want an fma say so.
target_compile_options(palpate_flags INTERFACE
  -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor -Wold-style-cast -Woverloaded-virtual -Werror
  -ffp-contract=off -fno-math-errno)
# GCC 12 flow analysis cries wolf at -O3 on Eigen expressions and on std::string (its bugs 105651, 105329).
target_compile_options(palpate_flags INTERFACE -Wno-maybe-uninitialized -Wno-array-bounds -Wno-stringop-overread
  -Wno-stringop-overflow -Wno-restrict -Wno-psabi)
if(CMAKE_UNITY_BUILD)
  # A source joined to others counts as a header, whose anonymous types the compiler warns of.
  target_compile_options(palpate_flags INTERFACE -Wno-subobject-linkage)
endif()
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64" AND PALPATE_ARCH)
  # Users of an installed Palpate must agree with it on Eigen's alignment, so this goes with the targets.
  set(palpate_arch_flag -march=${PALPATE_ARCH})
endif()
if(PALPATE_SANITIZE)
  target_compile_options(palpate_flags INTERFACE -fsanitize=${PALPATE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(palpate_flags INTERFACE -fsanitize=${PALPATE_SANITIZE})
endif()

set_property(GLOBAL PROPERTY palpate_layers "")

# palpate_layer(NAME LINKS ... PRIVATE_LINKS ...): library palpate_NAME (alias palpate::NAME) from NAME/src and
# NAME/include, and test program NAME_tests from NAME/tests. A layer's headers are reachable only by linking it.
function(palpate_layer name)
  cmake_parse_arguments(arg "" "" "LINKS;PRIVATE_LINKS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${name}/src/*.cpp)
  set(target palpate_${name})
  add_library(${target} STATIC ${sources})
  add_library(palpate::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/${name}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
    PRIVATE ${PROJECT_SOURCE_DIR}/${name}/src ${PROJECT_BINARY_DIR}/generated/${name})
  target_link_libraries(${target} PUBLIC ${arg_LINKS} PRIVATE $<BUILD_INTERFACE:palpate_flags> ${arg_PRIVATE_LINKS})
  target_compile_features(${target} PUBLIC cxx_std_20)
  if(name STREQUAL "core")
    target_compile_options(${target} PUBLIC ${palpate_arch_flag})
    target_precompile_headers(${target} PRIVATE <Eigen/Dense> <fmt/format.h> <string> <vector>)
  else()
    target_precompile_headers(${target} REUSE_FROM palpate_core)
  endif()
  set_property(GLOBAL APPEND PROPERTY palpate_layers ${target})

  file(GLOB tests CONFIGURE_DEPENDS ${name}/tests/*.cpp)
  if(PALPATE_BUILD_TESTS AND tests)
    add_executable(${name}_tests ${tests})
    target_link_libraries(${name}_tests PRIVATE ${target} ${arg_PRIVATE_LINKS} palpate_testing)
    target_precompile_headers(${name}_tests REUSE_FROM palpate_testing)
    # Test files repeat each other's helper names.
    set_target_properties(${name}_tests PROPERTIES UNITY_BUILD OFF)
    gtest_discover_tests(${name}_tests TEST_PREFIX ${name}. DISCOVERY_MODE PRE_TEST PROPERTIES TIMEOUT 300
                         WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  endif()
endfunction()

# palpate_embed(TARGET FILE SYMBOL): compiles FILE's bytes into TARGET as `extern const std::string_view SYMBOL`
# in namespace palpate::embedded.
function(palpate_embed target file symbol)
  set(out ${PROJECT_BINARY_DIR}/generated/embedded/${symbol}.cpp)
  add_custom_command(OUTPUT ${out} DEPENDS ${file} ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
    COMMAND ${CMAKE_COMMAND} -DIN=${file} -DOUT=${out} -DSYMBOL=${symbol} -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake)
  target_sources(${target} PRIVATE ${out})
  set_source_files_properties(${out} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
endfunction()

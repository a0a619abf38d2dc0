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
  -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor -Wold-style-cast -Woverloaded-virtual
  $<$<BOOL:${PALPATE_WERROR}>:-Werror>
  -ffp-contract=off -fno-math-errno)
# GCC 12 flow analysis cries wolf at -O3 on Eigen expressions and on std::string (its bugs 105651, 105329).
target_compile_options(palpate_flags INTERFACE -Wno-maybe-uninitialized -Wno-array-bounds -Wno-stringop-overread
  -Wno-stringop-overflow -Wno-restrict -Wno-psabi)
# GCC collects its garbage too eagerly for joined sources: a tenth of the time. 0.9 GB a job where it was 0.8.
target_compile_options(palpate_flags INTERFACE "$<$<CXX_COMPILER_ID:GNU>:SHELL:--param ggc-min-heapsize=1000000>")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64" AND PALPATE_ARCH)
  # Users of an installed Palpate must agree with it on Eigen's alignment, so this goes with the targets.
  set(palpate_arch_flag -march=${PALPATE_ARCH})
endif()
if(PALPATE_SANITIZE)
  target_compile_options(palpate_flags INTERFACE -fsanitize=${PALPATE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(palpate_flags INTERFACE -fsanitize=${PALPATE_SANITIZE})
  # The thread sanitizer does not understand fences; Asio does without where one thread runs its work, as here.
  target_compile_definitions(palpate_flags INTERFACE $<$<STREQUAL:${PALPATE_SANITIZE},thread>:BOOST_ASIO_DISABLE_FENCED_BLOCK>)
endif()

set_property(GLOBAL PROPERTY palpate_layers "")

# palpate_compile(TARGET BATCH [AROUND]): how the sources of layers and commands are compiled. AROUND says that they stand around the
# loops and not in them: JSON, command lines, web pages, reports. These are optimised a little less (not -O1: inline
# functions that the loops share with them would be theirs, and a tick of `cubes` takes 5 % longer), and share headers that contain the
# JSON library.
function(palpate_compile target batch)
  if("AROUND" IN_LIST ARGN)
    if(NOT TARGET palpate_around)
      # Has the headers only. They must not depend on what single layers define.
      file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/around.cpp CONTENT "")
      add_library(palpate_around OBJECT ${PROJECT_BINARY_DIR}/generated/around.cpp)
      target_compile_options(palpate_around PRIVATE $<$<CONFIG:Release>:-O2>)
      target_link_libraries(palpate_around PRIVATE palpate_core palpate_flags)
      target_precompile_headers(palpate_around PRIVATE <Eigen/Dense> <fmt/format.h> <nlohmann/json.hpp> <string> <vector>
                                <filesystem> <functional> <map> <optional> <variant>)
    endif()
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O2>)
    target_precompile_headers(${target} REUSE_FROM palpate_around)
  elseif(target STREQUAL palpate_core)
    target_precompile_headers(${target} PRIVATE <Eigen/Dense> <fmt/format.h> <string> <vector>)
  else()
    target_precompile_headers(${target} REUSE_FROM palpate_core)
  endif()
  # Joined sources read Eigen's and each other's headers once: a third less to compile.
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${PALPATE_JOIN_SOURCES} UNITY_BUILD_BATCH_SIZE ${batch})
  if(PALPATE_JOIN_SOURCES)
    # A source joined to others counts as a header, whose anonymous types the compiler warns of.
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
  endif()
endfunction()

# palpate_layer(NAME [AROUND] LINKS ... PRIVATE_LINKS ...): library palpate_NAME (alias palpate::NAME) from NAME/src and
# NAME/include, and test program NAME_tests from NAME/tests. A layer's headers are reachable only by linking it.
function(palpate_layer name)
  cmake_parse_arguments(arg "AROUND" "" "LINKS;PRIVATE_LINKS" ${ARGN})
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
  endif()
  if(arg_AROUND)
    palpate_compile(${target} 12 AROUND)
  else()
    palpate_compile(${target} 8)
  endif()
  set_property(GLOBAL APPEND PROPERTY palpate_layers ${target})

  file(GLOB tests CONFIGURE_DEPENDS ${name}/tests/*.cpp)
  if(PALPATE_BUILD_TESTS AND tests)
    add_executable(${name}_tests ${tests})
    target_link_libraries(${name}_tests PRIVATE ${target} ${arg_PRIVATE_LINKS} palpate_testing)
    target_precompile_headers(${name}_tests REUSE_FROM palpate_testing)
    # Joined too: each file has a namespace of its own, because test files repeat each other's helper names.
    set_target_properties(${name}_tests PROPERTIES UNITY_BUILD ${PALPATE_JOIN_SOURCES} UNITY_BUILD_BATCH_SIZE 8)
    target_compile_options(${name}_tests PRIVATE -Wno-subobject-linkage)
    # Devices keep real time: their tests want the machine for themselves.
    gtest_discover_tests(${name}_tests TEST_PREFIX ${name}. DISCOVERY_MODE PRE_TEST PROPERTIES TIMEOUT 300
                         RUN_SERIAL $<STREQUAL:${name},devices> WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  endif()
endfunction()

# palpate_umbrella(): palpate::palpate, which is all layers and the commands, for those who do not want to choose. The program has the
# name `palpate`, so inside this project the target is called palpate_all.
function(palpate_umbrella)
  get_property(layers GLOBAL PROPERTY palpate_layers)
  add_library(palpate_all INTERFACE)
  add_library(palpate::palpate ALIAS palpate_all)
  set_target_properties(palpate_all PROPERTIES EXPORT_NAME palpate)
  target_link_libraries(palpate_all INTERFACE ${layers} palpate_cli)
endfunction()

# palpate_sanitized_program(TARGET SANITIZER LAYERS ... SOURCES ... JOINED_SOURCES ... LINKS ... HEADERS ...): a program of which only its
# sources (some of them compiled joined) and those layers are built again, with a sanitizer; the rest is the libraries that are there. Takes a third of the time of a build
# with everything sanitized, which is what the presets asan, ubsan and tsan are for. Not part of `all`.
function(palpate_sanitized_program target sanitizer)
  cmake_parse_arguments(arg "" "" "LAYERS;SOURCES;JOINED_SOURCES;LINKS;HEADERS" ${ARGN})
  add_executable(${target} EXCLUDE_FROM_ALL ${arg_SOURCES} ${arg_JOINED_SOURCES})
  set(index 0)
  foreach(source ${arg_JOINED_SOURCES})
    math(EXPR batch "${index} / 12")
    math(EXPR index "${index} + 1")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${target}_${batch})
  endforeach()
  foreach(layer ${arg_LAYERS})
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${layer}/src/*.cpp)
    target_sources(${target} PRIVATE ${sources})
    target_include_directories(${target} PRIVATE ${layer}/src ${PROJECT_BINARY_DIR}/generated/${layer})
    get_target_property(joined palpate_${layer} UNITY_BUILD)
    set(index 0)
    foreach(source ${sources})
      math(EXPR batch "${index} / 12")
      math(EXPR index "${index} + 1")
      if(joined)
        set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${layer}_${batch})
      endif()
    endforeach()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # A report names functions; lines are what the presets asan and tsan give. The same sources were compiled with warnings before. The
  # address sanitizer's programs only read input: quick to compile is quick enough.
  target_compile_options(${target} PRIVATE $<IF:$<STREQUAL:${sanitizer},address>,-O0,-O1> -g0 -w -fsanitize=${sanitizer}
    -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(${target} PRIVATE -fsanitize=${sanitizer})
  target_link_libraries(${target} PRIVATE ${arg_LINKS} palpate_flags)
  target_precompile_headers(${target} PRIVATE <Eigen/Dense> <fmt/format.h> <string> <vector> ${arg_HEADERS})
endfunction()

# palpate_embed(TARGET FILE SYMBOL): compiles FILE's bytes into TARGET as `extern const std::string_view SYMBOL`
# in namespace palpate::embedded.
function(palpate_embed target file symbol)
  set(out ${PROJECT_BINARY_DIR}/generated/embedded/${symbol}.cpp)
  add_custom_command(OUTPUT ${out} DEPENDS ${file} ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
    COMMAND ${CMAKE_COMMAND} -DIN=${file} -DOUT=${out} -DSYMBOL=${symbol} -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake)
  target_sources(${target} PRIVATE ${out})
  # Alone in its object, so that what it holds can be had without the rest.
  set_source_files_properties(${out} PROPERTIES SKIP_PRECOMPILE_HEADERS ON SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# Finds MLIR 22.1 and adopts the way it was built.
#
# MLIR_DIR may name the directory of MLIRConfig.cmake. Without it the module
# looks below ROPE_LLVM_PREFIX, the install prefix of LLVM and MLIR.

set(ROPE_MLIR_VERSION 22.1)
find_package(MLIR ${ROPE_MLIR_VERSION} REQUIRED CONFIG HINTS "${ROPE_LLVM_PREFIX}/lib/cmake/mlir")
message(STATUS "Using MLIR ${LLVM_PACKAGE_VERSION} from ${MLIR_DIR}")

# MLIR does not export this one. LLVM_LINK_LLVM_DYLIB it does, and that has to
# stay: the archives of MLIR name the LLVM that they were built to link.
set(MLIR_LINK_MLIR_DYLIB ${ROPE_LINK_MLIR_DYLIB})

set(LLVM_RUNTIME_OUTPUT_INTDIR "${CMAKE_BINARY_DIR}/bin")
set(LLVM_LIBRARY_OUTPUT_INTDIR "${CMAKE_BINARY_DIR}/lib")
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${LLVM_RUNTIME_OUTPUT_INTDIR}")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${LLVM_LIBRARY_OUTPUT_INTDIR}")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${LLVM_LIBRARY_OUTPUT_INTDIR}")

# Installed tools find their own libraries first, then the MLIR of this build.
set(CMAKE_INSTALL_RPATH "$ORIGIN/../lib" "${LLVM_LIBRARY_DIR}")

list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
set(LLVM_BUILD_TOOLS ON)

include(CheckLinkerFlag)
check_linker_flag(CXX -fuse-ld=lld ROPE_HAVE_LLD)
set(LLVM_ENABLE_LLD ${ROPE_HAVE_LLD} CACHE BOOL "Link with lld")

include(TableGen)
include(AddLLVM)
include(AddMLIR)
include(HandleLLVMOptions)

# A build of ours with assertions against an MLIR without them changes the
# layout of its classes, so follow MLIR whatever the build type is.
if(NOT LLVM_ENABLE_ASSERTIONS)
  add_compile_definitions(NDEBUG)
endif()

# SYSTEM: only our own warnings show.
include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
include_directories("${PROJECT_SOURCE_DIR}/include" "${PROJECT_BINARY_DIR}/include")
separate_arguments(definitions NATIVE_COMMAND "${LLVM_DEFINITIONS}")
add_definitions(${definitions})

# g++ takes an empty std::optional for a use of what is not there.
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  add_compile_options(-Wno-maybe-uninitialized)
endif()
if(ROPE_WARNINGS_AS_ERRORS)
  add_compile_options(-Werror)
endif()
# The sanitizers' functions are in the program, not in what a shared library
# links with.
if(ROPE_SANITIZE)
  string(REPLACE "-Wl,-z,defs" "" CMAKE_SHARED_LINKER_FLAGS "${CMAKE_SHARED_LINKER_FLAGS}")
endif()
foreach(sanitizer IN LISTS ROPE_SANITIZE)
  add_compile_options(-fsanitize=${sanitizer} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${sanitizer})
endforeach()
if(ROPE_BUILD_FUZZERS)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

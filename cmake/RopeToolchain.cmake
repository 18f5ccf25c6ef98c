# Chooses the compiler before project() does, and a compiler cache.
#
# The clang of the LLVM that is used comes first, because its errors and its
# sanitizer runtimes match the headers; CC, CXX and CMAKE_<LANG>_COMPILER
# overrule it, and without such a clang CMake looks for any C++17 compiler.

set(prefix "$ENV{ROPE_LLVM_PREFIX}")
if(NOT prefix)
  set(prefix "/usr/lib/llvm-22")
endif()
set(ROPE_LLVM_PREFIX "${prefix}" CACHE PATH "Install prefix of LLVM and MLIR 22.1")
unset(prefix)

function(rope_prefer_compiler language variable name)
  if(DEFINED CMAKE_${language}_COMPILER OR DEFINED ENV{${variable}})
    return()
  endif()
  find_program(ROPE_${variable} ${name} PATHS "${ROPE_LLVM_PREFIX}/bin" NO_DEFAULT_PATH)
  mark_as_advanced(ROPE_${variable})
  if(ROPE_${variable})
    set(CMAKE_${language}_COMPILER "${ROPE_${variable}}" PARENT_SCOPE)
  endif()
endfunction()
rope_prefer_compiler(C CC clang)
rope_prefer_compiler(CXX CXX clang++)

find_program(ROPE_CCACHE ccache)
mark_as_advanced(ROPE_CCACHE)
foreach(language C CXX)
  if(ROPE_CCACHE AND NOT DEFINED CMAKE_${language}_COMPILER_LAUNCHER)
    set(CMAKE_${language}_COMPILER_LAUNCHER "${ROPE_CCACHE}")
  endif()
endforeach()

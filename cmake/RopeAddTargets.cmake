# rope_add_library(NAME sources... [DEPENDS targets] [LINK_LIBS libs] [MLIR_LIBS libs])
#
# An archive of ours: exported as Rope::NAME, a part of the target Rope, MLIR
# linked as ROPE_LINK_MLIR_DYLIB says.
function(rope_add_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINK_LIBS;MLIR_LIBS" ${ARGN})
  add_mlir_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS}
    DISABLE_INSTALL
    DEPENDS ${ARG_DEPENDS}
    LINK_LIBS PUBLIC ${ARG_LINK_LIBS})
  mlir_target_link_libraries(${name} PUBLIC ${ARG_MLIR_LIBS})
  target_include_directories(${name} INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
    $<INSTALL_INTERFACE:include>)
  install(TARGETS ${name} EXPORT RopeTargets ARCHIVE DESTINATION lib)
  set_property(GLOBAL APPEND PROPERTY ROPE_LIBRARIES ${name})
endfunction()

if("address" IN_LIST ROPE_SANITIZE)
  add_library(RopeSanitizerOptions OBJECT "${PROJECT_SOURCE_DIR}/cmake/SanitizerOptions.c")
endif()

# rope_add_sanitizer_options(NAME): the sanitizers' defaults for a program.
function(rope_add_sanitizer_options name)
  if(TARGET RopeSanitizerOptions)
    target_sources(${name} PRIVATE $<TARGET_OBJECTS:RopeSanitizerOptions>)
  endif()
endfunction()

# rope_add_tool(NAME sources... [LINK_LIBS libs] [MLIR_LIBS libs])
function(rope_add_tool name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINK_LIBS;MLIR_LIBS" ${ARGN})
  add_llvm_executable(${name} ${ARG_UNPARSED_ARGUMENTS} DEPENDS ${ARG_DEPENDS})
  target_link_libraries(${name} PRIVATE ${ARG_LINK_LIBS})
  mlir_target_link_libraries(${name} PRIVATE ${ARG_MLIR_LIBS})
  rope_add_sanitizer_options(${name})
  install(TARGETS ${name} RUNTIME DESTINATION bin)
endfunction()

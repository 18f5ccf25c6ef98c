# Installs the headers and the package that find_package(Rope) finds.

include(CMakePackageConfigHelpers)

set(ROPE_PACKAGE_DIR lib/cmake/Rope)

install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/" "${PROJECT_BINARY_DIR}/include/"
  DESTINATION include
  FILES_MATCHING
    PATTERN "*.h"
    PATTERN "*.td"
    PATTERN "*.inc"
    PATTERN CMakeFiles EXCLUDE)

get_property(ROPE_LIBRARIES GLOBAL PROPERTY ROPE_LIBRARIES)
if(TARGET RopeC)
  set(ROPE_C_LIBRARY RopeC)
endif()
set(INCLUDE_DIR include)
set(TOOLS_DIR bin)
configure_package_config_file(cmake/RopeConfig.cmake.in
  "${PROJECT_BINARY_DIR}/cmake/RopeConfig.cmake"
  INSTALL_DESTINATION ${ROPE_PACKAGE_DIR}
  PATH_VARS INCLUDE_DIR TOOLS_DIR)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/cmake/RopeConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES
    "${PROJECT_BINARY_DIR}/cmake/RopeConfig.cmake"
    "${PROJECT_BINARY_DIR}/cmake/RopeConfigVersion.cmake"
  DESTINATION ${ROPE_PACKAGE_DIR})
install(EXPORT RopeTargets NAMESPACE Rope:: DESTINATION ${ROPE_PACKAGE_DIR})

# cmake --install, and find_package(palpate) for those who build on it: target palpate::palpate, or
# the layers by themselves, palpate::core … palpate::server, and palpate::cli, the commands.
include(CMakePackageConfigHelpers)
get_property(layers GLOBAL PROPERTY palpate_layers)
install(TARGETS ${layers} palpate_cli palpate_all EXPORT palpate ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY apps/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
foreach(target ${layers})
  string(REPLACE "palpate_" "" layer ${target})
  install(DIRECTORY ${layer}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endforeach()
install(EXPORT palpate NAMESPACE palpate:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/palpate FILE palpate-targets.cmake)
configure_package_config_file(cmake/palpate-config.cmake.in palpate-config.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/palpate)
write_basic_package_version_file(palpate-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/palpate-config.cmake ${PROJECT_BINARY_DIR}/palpate-config-version.cmake cmake/FindMETIS.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/palpate)
install(DIRECTORY scenes schema DESTINATION ${CMAKE_INSTALL_DATADIR}/palpate)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES third_party/uplot/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME LICENSE.uplot)

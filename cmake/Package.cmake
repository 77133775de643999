# The files that `cmake --install` puts beside the programs, and CPack's Debian package of them.
#
#   component   holds                                                   installed
#   programs    bin/ (callslip_binary)                                  always
#   shared      protos, extension, documentation, examples              always
#   system      systemd units and /etc/callslip, at absolute paths      in the package only

set(doc_folder share/doc/callslip)

install(DIRECTORY proto/callslip DESTINATION share/callslip/proto
  COMPONENT shared FILES_MATCHING PATTERN *.proto)
install(DIRECTORY extension DESTINATION share/callslip COMPONENT shared)
install(FILES README.md ARCHITECTURE.md CHANGELOG.md LICENSE DESTINATION ${doc_folder} COMPONENT shared)
install(DIRECTORY docs DESTINATION ${doc_folder} COMPONENT shared)
install(DIRECTORY deploy/config/ DESTINATION ${doc_folder}/examples COMPONENT shared)
install(DIRECTORY deploy/cluster/systemd/ DESTINATION ${doc_folder}/examples/cluster COMPONENT shared)
install(DIRECTORY examples/grpc-js DESTINATION ${doc_folder}/examples
  COMPONENT shared PATTERN node_modules EXCLUDE)

set(debian ${CMAKE_SOURCE_DIR}/deploy/debian)
install(FILES ${debian}/callslip-tracker.service ${debian}/callslip-gateway.service
  ${debian}/callslip-runner.service
  DESTINATION /lib/systemd/system COMPONENT system EXCLUDE_FROM_ALL)
install(FILES ${debian}/tracker.yaml ${debian}/gateway.yaml ${debian}/runner.yaml
  DESTINATION /etc/callslip COMPONENT system EXCLUDE_FROM_ALL)
install(FILES ${debian}/README.Debian ${debian}/copyright
  DESTINATION /usr/${doc_folder} COMPONENT system EXCLUDE_FROM_ALL)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME callslip)
set(CPACK_PACKAGE_CONTACT "Callslip maintainers <maintainers@callslip.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "broker between AI agents and the browsers that act for them")
set(CPACK_PACKAGE_DESCRIPTION
"An agent hands in a command, gets a correlation id at once, and collects the
 result when it is there. The package holds the tracker, the gateway and the
 runner of agents as systemd services, the bridge for agents that speak MCP over
 stdio, the browser extension, and the gRPC contract.")
set(CPACK_STRIP_FILES ON)

# One package of all components: only in this mode CPack installs files marked EXCLUDE_FROM_ALL.
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL programs shared system)
set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION net)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# The tracker loads it only for a --storage in PostgreSQL.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS libpq5)
set(CPACK_DEBIAN_PACKAGE_DEPENDS adduser)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA
  ${debian}/conffiles ${debian}/postinst ${debian}/prerm ${debian}/postrm)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

# A package for another machine: its root has its libraries and dpkg's records of their packages.
if(CMAKE_CROSSCOMPILING)
  set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_CURRENT_LIST_DIR}/PackageSettings.cmake)
  set(CPACK_CALLSLIP_SYSROOT ${CMAKE_SYSROOT})
  set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE ${CALLSLIP_DEBIAN_ARCHITECTURE})
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS
    ${CMAKE_SYSROOT}/lib/${CMAKE_LIBRARY_ARCHITECTURE}
    ${CMAKE_SYSROOT}/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE})
endif()

include(CPack)

# CPack reads this file before it packs. In a cross build the libraries' packages are unknown to the
# host's dpkg, which CPack would ask for dependencies: deploy/cross/root.sh wrote the records of
# them.
if(CPACK_CALLSLIP_SYSROOT)
  set(ENV{DEB_HOST_ARCH} ${CPACK_DEBIAN_PACKAGE_ARCHITECTURE})
  set(ENV{DPKG_ADMINDIR} ${CPACK_CALLSLIP_SYSROOT}/var/lib/dpkg)
endif()

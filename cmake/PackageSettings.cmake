# What CPack reads before it packs. The packages of libraries for another machine are not the host's, whose
# dpkg would be asked what programs depend on: deploy/cross/root.sh wrote down what they are.
if(CPACK_CALLSLIP_SYSROOT)
  set(ENV{DEB_HOST_ARCH} ${CPACK_DEBIAN_PACKAGE_ARCHITECTURE})
  set(ENV{DPKG_ADMINDIR} ${CPACK_CALLSLIP_SYSROOT}/var/lib/dpkg)
endif()

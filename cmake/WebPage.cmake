# callslip_embed_page(<target>): builds the page of web/ with Node and puts it into <target>. With
# -DCALLSLIP_WEB=OFF there is no page, and Node is not needed.
function(callslip_embed_page target)
  if(NOT CALLSLIP_WEB)
    target_sources(${target} PRIVATE ${CMAKE_SOURCE_DIR}/services/gateway/web/no_web_files.cc)
    return()
  endif()
  find_program(CALLSLIP_NODE node)
  find_program(CALLSLIP_NPM npm)
  if(NOT CALLSLIP_NODE OR NOT CALLSLIP_NPM)
    message(FATAL_ERROR "The page is built with Node (18 at least) and npm: install them, or "
                        "configure with -DCALLSLIP_WEB=OFF for a gateway without it.")
  endif()
  set(web ${CMAKE_SOURCE_DIR}/web)
  set(built ${CMAKE_BINARY_DIR}/web)
  # The page's packages are beside its sources, where compilers and editors look for them.
  set(packages ${web}/node_modules/.package-lock.json)
  # Ninja would run this in each new build folder: packages that are up to date stay.
  set(install "'${CALLSLIP_NPM}' ci --ignore-scripts --no-audit --no-fund --loglevel=error")
  add_custom_command(
    OUTPUT ${packages}
    COMMAND sh -c "test '${packages}' -nt package-lock.json || { ${install} && touch '${packages}'; }"
    WORKING_DIRECTORY ${web}
    DEPENDS ${web}/package-lock.json
    COMMENT "Installing the packages of web"
    VERBATIM)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${web}/src/*)
  add_custom_command(
    OUTPUT ${built}/embedded_web_files.cc
    COMMAND ${CALLSLIP_NODE} ${web}/build.mjs --out ${built}/dist
    COMMAND ${CALLSLIP_NODE} ${web}/embed.mjs ${built}/dist ${built}/embedded_web_files.cc
    DEPENDS ${sources} ${packages} ${web}/build.mjs ${web}/embed.mjs ${web}/index.html
            ${web}/icon.svg ${web}/tsconfig.json
    COMMENT "Building the page"
    VERBATIM)
  target_sources(${target} PRIVATE ${built}/embedded_web_files.cc)
endfunction()

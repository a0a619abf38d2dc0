# Bundles the page of the viewer (web/) and compiles it into the server layer: the program needs no Node at run time.
find_program(PALPATE_NODE NAMES node nodejs)
if(NOT PALPATE_NODE)
  message(FATAL_ERROR "The viewer's page is bundled with Node, which was not found: install it, or build without the viewer (-DPALPATE_VIEWER=OFF)")
endif()
set(web ${PROJECT_SOURCE_DIR}/web)
set(bundle ${PROJECT_BINARY_DIR}/generated/web)
file(GLOB web_sources CONFIGURE_DEPENDS ${web}/src/* ${web}/build.mjs ${web}/package-lock.json)
add_custom_command(OUTPUT ${bundle}/index.html ${bundle}/app.js ${bundle}/app.css DEPENDS ${web_sources}
  COMMAND ${PALPATE_NODE} ${web}/build.mjs ${bundle} WORKING_DIRECTORY ${web} COMMENT "Bundling the viewer's page")
palpate_embed(palpate_server ${bundle}/index.html viewer_html)
palpate_embed(palpate_server ${bundle}/app.js viewer_js)
palpate_embed(palpate_server ${bundle}/app.css viewer_css)

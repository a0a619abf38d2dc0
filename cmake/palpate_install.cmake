# cmake --install and find_package(palpate).

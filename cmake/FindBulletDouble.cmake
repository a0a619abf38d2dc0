# Bullet's collision part (zlib licence) in double precision: imported target BulletDouble::Collision.
#
# Bullet's own package files describe the single-precision build first and with paths relative to a prefix; Debian ships
# both builds side by side, the double one with the suffix -float64. The two must never meet in one program: they share
# names and differ in layout.
find_path(BULLET_DOUBLE_INCLUDE_DIR btBulletCollisionCommon.h PATH_SUFFIXES bullet)
find_library(BULLET_DOUBLE_COLLISION_LIBRARY BulletCollision-float64)
find_library(BULLET_DOUBLE_MATH_LIBRARY LinearMath-float64)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(BulletDouble REQUIRED_VARS BULLET_DOUBLE_COLLISION_LIBRARY BULLET_DOUBLE_MATH_LIBRARY
                                  BULLET_DOUBLE_INCLUDE_DIR)
if(BulletDouble_FOUND AND NOT TARGET BulletDouble::Collision)
  add_library(BulletDouble::LinearMath UNKNOWN IMPORTED)
  set_target_properties(BulletDouble::LinearMath PROPERTIES IMPORTED_LOCATION "${BULLET_DOUBLE_MATH_LIBRARY}")
  add_library(BulletDouble::Collision UNKNOWN IMPORTED)
  set_target_properties(BulletDouble::Collision PROPERTIES IMPORTED_LOCATION "${BULLET_DOUBLE_COLLISION_LIBRARY}"
                        INTERFACE_INCLUDE_DIRECTORIES "${BULLET_DOUBLE_INCLUDE_DIR}"
                        INTERFACE_COMPILE_DEFINITIONS BT_USE_DOUBLE_PRECISION
                        INTERFACE_LINK_LIBRARIES BulletDouble::LinearMath)
endif()
mark_as_advanced(BULLET_DOUBLE_INCLUDE_DIR BULLET_DOUBLE_COLLISION_LIBRARY BULLET_DOUBLE_MATH_LIBRARY)

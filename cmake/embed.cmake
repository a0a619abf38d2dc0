# Writes the bytes of IN as the C++ constant palpate::embedded::SYMBOL to OUT.
file(READ ${IN} hex HEX)
string(LENGTH "${hex}" digits)
math(EXPR size "${digits} / 2")
string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
file(WRITE ${OUT} "#include <string_view>
namespace palpate::embedded {
static const unsigned char ${SYMBOL}_bytes[] = {${bytes}0};
extern const std::string_view ${SYMBOL};
const std::string_view ${SYMBOL}{reinterpret_cast<const char*>(${SYMBOL}_bytes), ${size}};
}  // namespace palpate::embedded
")

// The program palpate with one method more: `own_method run wall -m hold`, `own_method compare wall`, `own_method
// bench`.
#include "hold.h"
#include "palpate/cli/command_line.h"

int main(int argc, char** argv) {
  palpate::register_method(own::make_hold_info());  // before any scene is read
  return palpate::run_command_line(argc, argv);
}

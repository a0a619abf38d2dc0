#include "palpate/cli/command_line.h"

int main(int argc, char** argv) {
  return palpate::run_command_line(argc, argv);
}

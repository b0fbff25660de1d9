// SPDX-License-Identifier: Apache-2.0
// How SIGINT, SIGTERM and SIGHUP end a command that has something to put in order first.
#pragma once

namespace warpfold::cli {

// From now on the first such signal is noted, and the command has two seconds; a second one, or the
// end of that time, ends the process at once. Signals that are ignored, as under nohup, stay so.
void note_stops();
[[nodiscard]] bool is_stopped();
// The noted signal, 0 if there is none.
[[nodiscard]] int stop_number();
// Has the noted signal end the process, as if nobody had noted it.
void end_by_signal();

}  // namespace warpfold::cli

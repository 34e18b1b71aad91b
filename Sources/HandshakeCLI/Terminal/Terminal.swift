import Foundation
import Synchronization

/// The terminal that the command runs on.
enum Terminal {
    /// Whether lines can be drawn over: a terminal that is called dumb cannot.
    static let canRedraw = Output.isTerminal && ProcessInfo.processInfo.environment["TERM"] != "dumb"

    /// How many columns standard error has now; 80 when it does not say.
    static var columns: Int {
        var size = winsize()
        guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    /// How many lines it has now; 24 when it does not say.
    static var rows: Int {
        var size = winsize()
        guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_row > 0 else { return 24 }
        return Int(size.ws_row)
    }

    /// How the terminal was before ``hideInput()``.
    private static let before = Mutex<termios?>(nil)

    /// Shows nothing of what is typed, until ``showInput()``. What was typed before the question is no answer to it.
    static func hideInput() {
        before.withLock { before in
            var settings = termios()
            guard before == nil, tcgetattr(STDIN_FILENO, &settings) == 0 else { return }
            before = settings
            settings.c_lflag &= ~tcflag_t(ECHO)
            tcsetattr(STDIN_FILENO, TCSAFLUSH, &settings)
        }
    }

    /// Makes the terminal as it was. Called on every way out, so that no shell is left blind.
    static func showInput() {
        before.withLock { before in
            guard var settings = before.take() else { return }
            tcsetattr(STDIN_FILENO, TCSADRAIN, &settings)
        }
    }
}

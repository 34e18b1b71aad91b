#if CommandLine
import Foundation
import Synchronization

/// The terminal that the command runs on.
enum Terminal {
    /// Whether lines can be redrawn, which a terminal of type `dumb` cannot.
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

    /// Hides what is typed until ``showInput()``. What was typed before is discarded: it does not answer the question.
    static func hideInput() {
        before.withLock { before in
            var settings = termios()
            guard before == nil, tcgetattr(STDIN_FILENO, &settings) == 0 else { return }
            before = settings
            settings.c_lflag &= ~tcflag_t(ECHO)
            tcsetattr(STDIN_FILENO, TCSAFLUSH, &settings)
        }
    }

    /// Restores the terminal. Called on every exit, so that no shell is left without echo.
    static func showInput() {
        before.withLock { before in
            guard var settings = before.take() else { return }
            tcsetattr(STDIN_FILENO, TCSADRAIN, &settings)
        }
    }
}
#endif

#if CommandLine
import AsyncSupport
import Foundation
import OAuth
import Synchronization

/// The command's two streams: results to standard output, everything else to standard error.
enum Output {
    /// Whether errors are JSON too. Known before the command line is parsed, because parsing it may fail.
    static let isJSON = CommandLine.arguments.dropFirst().prefix { $0 != "--" }.contains("--json")

    /// Whether only errors are shown.
    static let isQuiet = CommandLine.arguments.dropFirst().prefix { $0 != "--" }.contains("--quiet")

    /// Whether standard error is a terminal.
    static let isTerminal = isatty(2) == 1

    /// One line of a result, complete when this returns.
    static func result(_ line: String) {
        write(Array((line + "\n").utf8), to: 1)
    }

    /// Bytes of a result, as they are.
    static func result(bytes: [UInt8]) {
        write(bytes, to: 1)
    }

    /// The content of a service's response: as it is for a program, and on a terminal without what would steer it.
    static func result(content: [UInt8]) {
        write(isatty(STDOUT_FILENO) == 1 ? Array(shown(content).utf8) : content, to: 1)
    }

    /// Text of a service for a terminal. Control and format characters other than tabs and line breaks are replaced.
    private static func shown(_ content: [UInt8]) -> String {
        let lines = String(decoding: content, as: UTF8.self).unicodeScalars.split(
            separator: "\n", omittingEmptySubsequences: false)
        return lines.map { line in
            let cells = (line.last == "\r" ? line.dropLast() : line).split(
                separator: "\t", omittingEmptySubsequences: false)
            return cells.map { quoted(String($0), limit: .max) }.joined(separator: "\t")
        }.joined(separator: "\n")
    }

    /// A hint, unless the user wants quiet.
    static func note(_ line: String) {
        if !isQuiet { error(line) }
    }

    /// What went wrong. Control and format characters other than line breaks are replaced: the text may quote a file or a server.
    static func error(_ text: String) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map {
            quoted(String($0), limit: 65_536)
        }
        write(Array((lines.joined(separator: "\n") + "\n").utf8), to: 2)
    }

    /// Draws a piece of a line on the terminal.
    static func draw(_ piece: String) {
        write(Array(piece.utf8), to: 2)
    }

    /// Whether a part of the result could not be written. The command then fails.
    static var isIncomplete: Bool { failure.load(ordering: .relaxed) != 0 }

    /// Why, in the system's words.
    static var failureText: String { String(cString: strerror(failure.load(ordering: .relaxed))) }

    private static let failure = Atomic<Int32>(0)

    private static func write(_ bytes: [UInt8], to descriptor: Int32) {
        if let reason = writeAll(bytes, to: descriptor), descriptor == 1 { failure.store(reason, ordering: .relaxed) }
    }
}
#endif

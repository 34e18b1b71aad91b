#if CommandLine
import Handshake
import OAuth

/// How `login --device` shows the code (RFC 8628, section 3.3).
struct DeviceCodeText {
    let code: DeviceCode

    /// The one line of standard output: code and address.
    var line: String { "\(code.userCode) \(code.verificationURI.string)" }

    /// What the user reads. The code stands beside the complete address too, to be compared.
    func lines(in language: Language = .user) -> [String] {
        [
            code.prompt(in: language), "", "  \(code.verificationURI.string)", "  \(code.userCode)", "",
        ] + (code.completeVerificationURI.map { ["  \($0.string)", ""] } ?? []) + [code.warning(in: language)]
    }

    /// The picture of the address; nil when the terminal is too small for it.
    func picture(columns: Int, rows: Int) -> String? {
        QRCode(Array(code.pictured.string.utf8))?.picture(columns: columns, rows: rows)
    }

    /// Prints all of it.
    func show() {
        Output.note(lines().joined(separator: "\n"))
        if Terminal.canRedraw, !Output.isQuiet,
            let picture = picture(columns: Terminal.columns, rows: Terminal.rows)
        {
            Output.draw(picture)
        }
        Output.result(line)
    }
}
#endif

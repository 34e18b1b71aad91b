#if CommandLine
import Handshake
import OAuth

/// Files of the user that the command reads, after it was checked that no other user can have changed them.
enum UserFile {
    /// The settings file; nil when there is none. Other users may read it.
    ///
    /// - Throws: ``CommandError`` of status 7 with the cure.
    static func settings(_ path: String) throws(CommandError) -> [UInt8]? {
        try contents(of: path, limit: Settings.File.sizeLimit, others: .mayRead, code: "settings_denied")
    }

    /// A file with a secret, which no other user may read; nil when there is none.
    ///
    /// - Throws: ``CommandError`` of status 7 with the cure.
    static func secret(_ path: String) throws(CommandError) -> [UInt8]? {
        try contents(of: path, limit: 1 << 16, others: .mayDoNothing, code: "secret_file_denied")
    }

    private static func contents(
        of path: String, limit: Int, others: TrustedFile.Others, code: String
    ) throws(CommandError) -> [UInt8]? {
        do throws(VaultError) {
            return try TrustedFile.contents(of: path, limit: limit, others: others)
        } catch {
            let message =
                switch error {
                case .denied(let what, let reason): "“\(what)” was not read: \(reason)"
                case .damaged(let what, let reason): "“\(what)” was not read: \(reason)"
                default: "“\(path)” cannot be read: \(error)"
                }
            throw CommandError(status: .vault, code: code, message: message)
        }
    }
}
#endif

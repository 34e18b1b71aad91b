#if PostgreSQL
import CLibpq
import Handshake

/// Why the server, or the way to it, did not do what it was asked.
struct PostgresFailure: Error, Sendable {
    /// Five characters that say what the server refused (PostgreSQL, appendix A); empty when the connection failed.
    let state: String
    /// What libpq or the server says, without the password.
    let text: String
    /// Whether the server may have done it all the same.
    let mayBeDone: Bool

    /// What libpq says of the connection itself.
    static func connection(_ text: String, mayBeDone: Bool = false) -> PostgresFailure {
        PostgresFailure(state: "", text: text, mayBeDone: mayBeDone)
    }

    /// What the server answered to one statement. Only the first line: details may quote values.
    static func answered(_ result: OpaquePointer, _ address: PostgresAddress) -> PostgresFailure {
        let field = { (code: Character) in
            PQresultErrorField(result, Int32(code.asciiValue ?? 0)).map { String(cString: $0) } ?? ""
        }
        let state = field("C")
        // The server ended the connection, perhaps after the commit.
        let isEnd = state.isEmpty || state.hasPrefix("57P") || state.hasPrefix("08")
        let text = state.isEmpty ? String(cString: PQresultErrorMessage(result)) : field("M")
        return PostgresFailure(state: state, text: address.redacted(text), mayBeDone: isEnd)
    }

    /// Another transaction was in the way, and the same statement may succeed (40001, 40P01).
    var isConflict: Bool { state == "40001" || state == "40P01" }

    /// The server may be back soon, or have space soon: worth another try.
    var isPassing: Bool {
        state.isEmpty || ["08", "53", "57P", "58"].contains { state.hasPrefix($0) } || state == "57014"
            || state == "55P03"
    }

    /// What it means for a vault (`vault-lease.md` 7).
    func vaultError(at address: PostgresAddress, schema: String) -> VaultError {
        let place = "\(address)"
        switch state {
        case "28P01", "28000":
            return .denied(
                what: place, reason: "\(text). Check the role and its password: PGPASSFILE names a file with passwords")
        case "42501":
            return .denied(
                what: place,
                reason:
                    "\(text). The role lacks a right on the schema “\(schema)”; the rights are in Documentation/Vaults.md"
            )
        case "3D000":
            return .denied(what: place, reason: "\(text). Create the database with: createdb")
        case "3F000", "42P01": return PostgresSchema.missing(address)
        case "25006":
            return .unavailable("\(place) is read-only (\(text)); connect to the primary server")
        case "53100": return .unavailable("no space is left at \(place) (\(text))")
        case "57014", "55P03": return .unavailable("\(place) is too slow (\(text))")
        case _ where state.hasPrefix("22") || state.hasPrefix("42"):
            return .damaged(
                what: "\(place), schema \(schema)",
                reason: "its tables were changed, or another program made them (\(text))")
        default:
            return .unavailable("\(place): \(text)")
        }
    }
}
#endif

#if PostgreSQL
import CLibpq
import Handshake

/// Why the server, or the way to it, did not do what it was asked.
struct PostgresFailure: Error, Sendable {
    /// Five characters that say what the server refused (PostgreSQL, appendix A); empty when the connection failed.
    let state: String
    /// What libpq or the server says, without the password.
    let text: String
    /// Whether the server may still have done it.
    let mayBeDone: Bool
    /// The number of the statement that failed, among those that were sent together; nil when it was all of them.
    var statement: Int?

    /// What libpq says of the connection itself.
    static func connection(_ text: String, mayBeDone: Bool = false) -> PostgresFailure {
        PostgresFailure(state: "", text: text, mayBeDone: mayBeDone)
    }

    /// What libpq says, verbosely, of a connection that it could not make, such as `FATAL:  28P01: password authentication failed`.
    static func connecting(_ text: String, to address: PostgresAddress) -> PostgresFailure {
        // Without the lines that name PostgreSQL's own source.
        let lines = text.split(separator: "\n").filter { !$0.hasPrefix("LOCATION:") }.joined(separator: " ")
        return PostgresFailure(state: refusal(in: text), text: address.redacted(lines), mayBeDone: false)
    }

    /// The server's code in libpq's verbose text; empty when there is none.
    private static func refusal(in text: String) -> String {
        guard let match = text.firstMatch(of: #/:  ([0-9A-Z]{5}): /#) else {
            // libpq itself says these.
            let isReadOnly =
                text.contains("session is read-only") || text.contains("server is in hot standby mode")
            return isReadOnly ? "25006" : text.contains("no password supplied") ? "28P01" : ""
        }
        return String(match.1)
    }

    /// What kept each server of a list from being used.
    ///
    /// - Parameter failures: one a server, in their order; at least one.
    static func connecting(_ failures: [(server: PostgresAddress, failure: PostgresFailure)]) -> PostgresFailure {
        guard failures.count > 1, let last = failures.last else { return failures[0].failure }
        // A standby among them says most: the others may only be away.
        let state = failures.contains { $0.failure.isReadOnly } ? "25006" : last.failure.state
        let texts = failures.map { "\($0.server.place): \($0.failure.text)" }
        return PostgresFailure(state: state, text: texts.joined(separator: "; "), mayBeDone: false)
    }

    /// What it means for a statement that would have been the next one: that was never sent.
    var beforehand: PostgresFailure { PostgresFailure(state: state, text: text, mayBeDone: false) }

    /// What the server answered to one statement. Only the first line: details may quote values.
    ///
    /// - Parameter statement: the statement's number; nil for the end of the transaction.
    static func answered(
        _ result: OpaquePointer, _ address: PostgresAddress, statement: Int?
    ) -> PostgresFailure {
        let field = { (code: Character) in
            PQresultErrorField(result, Int32(code.asciiValue ?? 0)).map { String(cString: $0) } ?? ""
        }
        let state = field("C")
        // The server ended the connection, perhaps after the commit.
        let isEnd = state.isEmpty || state.hasPrefix("57P") || state.hasPrefix("08")
        let text = state.isEmpty ? String(cString: PQresultErrorMessage(result)) : field("M")
        return PostgresFailure(state: state, text: address.redacted(text), mayBeDone: isEnd, statement: statement)
    }

    /// Another transaction was in the way, or a plan was old, and the same statement may succeed.
    var isConflict: Bool { state == "40001" || state == "40P01" || isOfPreparation }

    /// The server does not have a statement that was prepared, has another one of its name, or has another table below it.
    var isOfPreparation: Bool { ["26000", "42P05", "0A000"].contains(state) }

    /// The server may be back soon, have space soon, or be promoted soon: worth another try.
    var isPassing: Bool {
        state.isEmpty || ["08", "53", "57P", "58"].contains { state.hasPrefix($0) } || state == "57014"
            || state == "55P03" || isReadOnly
    }

    /// Whether the server certainly did nothing, and will not soon.
    var isRefusal: Bool { !state.isEmpty && !isPassing && !mayBeDone }

    /// Whether a function is missing, not implemented, or not for this role.
    var isOfFunction: Bool { ["42883", "0A000", "42501"].contains(state) }

    /// Whether the server takes no writes: it is a standby, or was made read-only. Another connection may lead to one that does.
    var isReadOnly: Bool { state == "25006" }

    /// What it means for a vault (`vault-lease.md` 7).
    func vaultError(at address: PostgresAddress, schema: String) -> VaultError {
        let place = "\(address)"
        switch state {
        case "28P01", "28000":
            return .denied(
                what: place,
                reason: "\(text). Check the role and its password: PGPASSFILE names a file with passwords."
            )
        case "42501":
            return .denied(
                what: place,
                reason:
                    "\(text). The role lacks a right on the schema “\(schema)”. Documentation/Vaults.md lists the rights."
            )
        case "3D000":
            return .denied(what: place, reason: "\(text). Create the database with: createdb")
        case "3F000", "42P01": return PostgresSchema.missing(address)
        case "25006":
            return .unavailable(
                "\(place) is read-only (\(text)). Connect to the primary server, or name all servers, host=A,B: the one that takes writes is found"
            )
        case "53100":
            return .unavailable(
                "no space is left at \(place) (\(text)). Make room on the server's disk. Until then records stay as they are"
            )
        case "57014":
            return .unavailable(
                "\(place) is too slow (\(text)). Try again later. If that does not help, lighten the database's load. If the role's "
                    + "statement_timeout is below 5 s, raise it: ALTER ROLE … SET statement_timeout = '5s'")
        case "55P03":
            return .unavailable(
                "\(place) is too slow: another transaction keeps what it needs locked (\(text)). Try again later. If that does not help, "
                    + "find the oldest transaction: SELECT pid, xact_start, query FROM pg_stat_activity WHERE xact_start IS NOT NULL "
                    + "ORDER BY xact_start; then end it, with its pid as PID: SELECT pg_terminate_backend(PID)")
        case "XX001", "XX002":
            return .damaged(
                what: place, reason: "PostgreSQL cannot read a part of it (\(text)). Restore the database from a backup"
            )
        case _ where state.hasPrefix("22") || state.hasPrefix("42"):
            return .damaged(
                what: "\(place), schema \(schema)",
                reason: "its tables were changed, or another program made them (\(text))")
        default:
            return .unavailable("\(place): \(text)")
        }
    }
}

extension PostgresExchange.Answer {
    /// Whether the session takes no writes.
    var isReadOnly: Bool { if case .failure(let failure) = self { failure.isReadOnly } else { false } }
}
#endif

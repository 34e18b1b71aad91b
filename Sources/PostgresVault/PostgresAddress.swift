#if PostgreSQL
import AsyncSupport
import CLibpq
import Foundation
import Handshake

/// Where a server is and who connects: what a connection string says. It describes itself without what is secret.
struct PostgresAddress: Sendable {
    /// libpq's options that were given, by their keywords.
    private let options: [String: String]
    /// As a URI that libpq reads, without passwords. Each error of a vault begins with it.
    ///
    /// A value that may be secret, or that this version does not know, is “…”: then the URI leads nowhere, instead of elsewhere.
    let description: String

    /// Reads a URI (`postgresql://…`) or `keyword=value` pairs as libpq does.
    ///
    /// - Throws: `VaultError.denied`. It quotes nothing: libpq's own text may hold a piece of a password.
    init(_ text: String) throws(VaultError) {
        var message: UnsafeMutablePointer<CChar>?
        let parsed = text.contains("\0") ? nil : PQconninfoParse(text, &message)
        defer { if let message { PQfreemem(message) } }
        guard let parsed else { throw Self.unreadable }
        defer { PQconninfoFree(parsed) }
        var options: [String: String] = [:]
        var option = parsed
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val { options[String(cString: keyword)] = String(cString: value) }
            option += 1
        }
        guard !Self.isMisread(options) else { throw Self.unreadable }
        self.options = options
        description = Self.description(of: options)
    }

    private init(_ options: [String: String]) {
        self.options = options
        description = Self.description(of: options)
    }

    /// Host and port, for an error that names several.
    var place: String {
        let host = options["host"].flatMap { $0.isEmpty ? nil : $0 } ?? options["hostaddr"] ?? "default host"
        return host + (options["port"].map { " port \($0)" } ?? "")
    }

    /// An address for each server of a list, in its order; only itself where there is no list, or libpq has to compare its servers.
    ///
    /// libpq's own limit of time for each server does not count where a program watches its socket: a first server that is silent would
    /// never be passed.
    ///
    /// - Parameter environment: where libpq finds what the connection string does not say.
    func servers(in environment: [String: String] = ProcessInfo.processInfo.environment) -> [PostgresAddress] {
        let value = { (keyword: String, variable: String) in options[keyword] ?? environment[variable] }
        let list = { (keyword: String, variable: String) in
            (value(keyword, variable) ?? "").split(separator: ",", omittingEmptySubsequences: false)
                .map(String.init)
        }
        let lists = [
            "host": list("host", "PGHOST"), "hostaddr": list("hostaddr", "PGHOSTADDR"), "port": list("port", "PGPORT"),
        ]
        let count = max(lists["host"]?.count ?? 1, lists["hostaddr"]?.count ?? 1)
        guard count > 1, value("service", "PGSERVICE") == nil, options["target_session_attrs"] != "prefer-standby",
            lists.values.allSatisfy({ $0.count == 1 || $0.count == count })
        else { return [self] }
        let servers = (0..<count).map { index in
            var options = options
            for (keyword, list) in lists where list.count == count { options[keyword] = list[index] }
            return PostgresAddress(options)
        }
        return value("load_balance_hosts", "PGLOADBALANCEHOSTS") == "random" ? servers.shuffled() : servers
    }

    private static let unreadable = VaultError.denied(
        what: "the connection string of the PostgreSQL vault",
        reason:
            "it cannot be read. Write postgresql://USER@HOST:PORT/DATABASE, and special characters with %: @ as %40, / as %2F."
    )

    /// Whether a part that errors show may hold a piece of a password whose `@` or `/` was not written with %.
    private static func isMisread(_ options: [String: String]) -> Bool {
        let shown = ["host", "hostaddr", "port", "dbname"].compactMap { options[$0] }
        return shown.contains { $0.contains("@") || $0.contains("://") } || options["dbname"]?.contains("=") == true
            || options["port"]?.contains { !"0123456789,".contains($0) } == true
    }

    /// Starts to connect. It may wait for a name server.
    ///
    /// A session that cannot write is refused, unless `target_session_attrs` was given: a replica's reads are stale.
    func startConnecting() -> OpaquePointer? {
        var options = options
        for (keyword, value) in [("target_session_attrs", "read-write"), ("fallback_application_name", "handshake")]
        where options[keyword] == nil {
            options[keyword] = value
        }
        options["client_encoding"] = "UTF8"
        let keywords = options.keys.sorted()
        let texts = keywords.map { strdup($0) } + keywords.map { strdup(options[$0] ?? "") }
        defer { for text in texts { free(text) } }
        let pointers = texts.map { UnsafePointer($0) }
        return PQconnectStartParams(
            Array(pointers.prefix(keywords.count)) + [nil], Array(pointers.suffix(keywords.count)) + [nil], 0)
    }

    /// What libpq or the server may quote in an error, and is secret.
    private var secrets: [String] {
        let environment = ProcessInfo.processInfo.environment
        var secrets = [options["password"], options["sslpassword"], environment["PGPASSWORD"]].compactMap(\.self)
        // A key in a device may have a PIN. libpq names it without its engine, which stands before the first colon.
        let key = options["sslkey"] ?? environment["PGSSLKEY"] ?? ""
        if let colon = key.firstIndex(of: ":") { secrets.append(String(key[key.index(after: colon)...])) }
        secrets += PostgresSettings(options["options"] ?? environment["PGOPTIONS"] ?? "").ownValues
        return secrets
    }

    /// A text of libpq or of the server in one line, of bounded length, without any password.
    func redacted(_ text: String) -> String {
        var text = text
        for secret in secrets where !secret.isEmpty {
            text = text.replacingOccurrences(of: secret, with: "…")
        }
        let line = text.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : Character($0) }
        return String(String(line).trimmingCharacters(in: .whitespaces).prefix(400)).clause
    }
}

extension PostgresAddress: CustomStringConvertible {
    /// libpq's options that say which server is used, and how, and hold no secret. Paths of keys and of files with passwords are none.
    private static let shownOptions: Set<String> = [
        "application_name", "channel_binding", "client_encoding", "connect_timeout", "fallback_application_name",
        "gssdelegation", "gssencmode", "gsslib", "host", "hostaddr", "keepalives", "keepalives_count",
        "keepalives_idle", "keepalives_interval", "krbsrvname", "load_balance_hosts", "options", "passfile", "port",
        "replication", "require_auth", "requirepeer", "service", "ssl_max_protocol_version",
        "ssl_min_protocol_version", "sslcert", "sslcertmode", "sslcompression", "sslcrl", "sslcrldir", "sslkey",
        "sslmode", "sslnegotiation", "sslrootcert", "sslsni", "target_session_attrs", "tcp_user_timeout",
    ]

    /// Those that are left out without a sign: libpq can take them from `PGPASSFILE` and other places.
    private static let passwords: Set<String> = ["password", "sslpassword"]

    private static func description(of options: [String: String]) -> String {
        var rest = options.filter { !passwords.contains($0.key) }
        let user = rest.removeValue(forKey: "user").map { encoded($0) + "@" } ?? ""
        let database = encoded(rest.removeValue(forKey: "dbname") ?? "")
        let authority = authority(in: rest)
        if authority != nil { (rest["host"], rest["port"]) = (nil, nil) }
        let query = rest.sorted { $0.key < $1.key }.map { name, value in
            "\(name)=\(isShown(name, value) ? encoded(value, keeping: "/:,") : "…")"
        }
        return "postgresql://\(user)\(authority ?? "")/\(database)" + (query.isEmpty ? "" : "?")
            + query.joined(separator: "&")
    }

    /// Whether an option may be shown as it is.
    private static func isShown(_ name: String, _ value: String) -> Bool {
        guard shownOptions.contains(name), !value.contains("@"), !value.contains("://") else { return false }
        return switch name {
        // A key in a device: its name may have a PIN.
        case "sslkey": !value.contains(":")
        case "options": PostgresSettings(value).areKnown
        default: true
        }
    }

    /// Hosts and ports as a URI has them; nil when the lists have different lengths.
    private static func authority(in options: [String: String]) -> String? {
        let list = { (name: String) in
            (options[name] ?? "").split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        }
        let (hosts, ports) = (list("host"), list("port"))
        guard ports.count == 1 || ports.count == hosts.count else { return nil }
        return hosts.enumerated().map { index, host in
            let isIPv6 = host.contains(":") && host.allSatisfy { $0.isHexDigit || $0 == ":" || $0 == "." }
            let port = ports.count == 1 ? ports[0] : ports[index]
            return (isIPv6 ? "[\(host)]" : encoded(host)) + (port.isEmpty ? "" : ":\(port)")
        }.joined(separator: ",")
    }

    /// A value as a URI has it.
    private static func encoded(_ value: String, keeping others: String = "") -> String {
        var text = ""
        for byte in value.utf8 {
            let character = Character(UnicodeScalar(byte))
            let isPlain = character.isLetter || character.isNumber || ("-._~" + others).contains(character)
            if byte < 0x80, isPlain {
                text.append(character)
            } else {
                let digits = String(byte, radix: 16, uppercase: true)
                text += "%" + (digits.count == 1 ? "0" : "") + digits
            }
        }
        return text
    }

    /// The description as a shell takes it.
    var quotedForShell: String {
        description.contains { "?&[]".contains($0) } ? "'postgres:\(description)'" : "postgres:\(description)"
    }
}

extension PostgresAddress: CustomReflectable {
    var customMirror: Mirror { Mirror(self, children: []) }
}
#endif

#if CommandLine
import Beacons
import Nearby
import OAuth

/// What an audit reports: what was heard of each circle and of friends, and what links two identifiers.
struct NearbyAuditReport {
    /// A circle, or friends.
    struct Scope {
        /// The circle's name, as its server has it; nil for friends.
        let circle: String?
        /// Whether its identifiers are sent now.
        let isSent: Bool
        /// How many identifiers were heard.
        let count: Int

        /// Whether nothing can be said about it.
        var isTooShort: Bool { (isSent || count > 0) && count < LinkabilityAudit.minimumTerms }

        fileprivate var name: String { circle.map { quoted($0, limit: 80) } ?? "friends" }

        fileprivate var line: String {
            let name = circle == nil ? "Friends" : name
            return switch count {
            case 0: isSent ? "\(name): not heard" : "\(name): not sent now, not heard"
            case 1: "\(name): 1 identifier heard"
            default: "\(name): \(count) identifiers heard"
            }
        }
    }

    let scopes: [Scope]
    let verdict: LinkabilityAudit.Verdict
    let findings: [LinkabilityAudit.Finding]

    private var count: Int { scopes.reduce(0) { $0 + $1.count } }

    /// What is printed.
    var lines: [String] {
        var lines = scopes.map(\.line) + findings.map { "\($0.rule.rawValue)  \($0.text)" }
        if verdict == .clean { lines.append("Nothing links the \(count) identifiers that were heard.") }
        return lines
    }

    /// What is printed with `--json`.
    var json: JSONText {
        .object([
            ("verdict", .string(verdict.rawValue)), ("identifiers", .integer(Int64(count))),
            (
                "scopes",
                .array(
                    scopes.map { scope in
                        .object([
                            ("circle", .optional(scope.circle)), ("sent", .bool(scope.isSent)),
                            ("identifiers", .integer(Int64(scope.count))),
                        ])
                    })
            ),
            (
                "findings",
                .array(
                    findings.map { .object([("rule", .string($0.rule.rawValue)), ("text", .string($0.text))]) })
            ),
        ])
    }

    /// Why the status is not 0.
    var failure: CommandError? {
        switch verdict {
        case .clean: nil
        case .linked:
            CommandError(
                status: .defect, code: "linked",
                message:
                    "A receiver can follow you from one identifier to the next, or from one circle to another. To see what keeps the address from changing, run: handshake doctor"
            )
        case .tooShort:
            CommandError(status: .abandoned, code: "too_short", message: tooShort)
        }
    }

    private var tooShort: String {
        let missing = scopes.filter(\.isTooShort).map { scope in
            scope.count == 0 ? "\(scope.name) (not heard)" : "\(scope.name) (\(scope.count) heard)"
        }
        guard !missing.isEmpty else {
            return
                "You send no identifiers now. Start with: handshake nearby watch --advertise rolling"
        }
        return
            "Not enough was heard of: \(missing.joined(separator: ", ")). An audit needs \(LinkabilityAudit.minimumTerms) identifiers of each circle, and of friends. Listen longer, with another adapter than the one that sends."
    }
}

extension NearbyAuditReport {
    /// - Parameters:
    ///   - audit: an audit of the scopes that ``audit(of:)`` makes.
    ///   - own: the user's scopes.
    init(_ audit: LinkabilityAudit, of own: OwnScopes) {
        scopes = zip(own.all, audit.termCounts).map { scope, count in
            Scope(circle: scope.circle, isSent: scope.isSent, count: count)
        }
        (verdict, findings) = audit.report()
    }

    /// An audit of the user's scopes.
    static func audit(of own: OwnScopes) -> LinkabilityAudit {
        LinkabilityAudit(of: own.all.map { LinkabilityAudit.Scope($0.seed, isSent: $0.isSent) })
    }
}
#endif

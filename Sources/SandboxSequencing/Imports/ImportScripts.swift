#if Sandbox
import SandboxCore

/// What the two import services answer, by the login's text before `@` (Sequencing dossier, sections 3 and 9.3).
///
/// | login | 23andMe | Ancestry |
/// |---|---|---|
/// | `started` | 0 | 0 and a session |
/// | `slow` | 0, and the file comes after 90 seconds in place of 30 | 0 and a session, and the same |
/// | `ada`, `question` | 2, `First pet?` and a session; the answer is `Turing` | 1 |
/// | `wrong`, and any other | 1 | 1 |
/// | `broken` | 3 | 2 |
/// | `text` | HTML in place of JSON | the same |
/// | `missing` | 2 without the key `SessionId` | 0 without the key `SessionId` |
/// | `nosession` | 2 with `SessionId` null | 0 with `SessionId` null |
///
/// | second step | answers |
/// |---|---|
/// | `SeqAnswer` | `Turing` 0, `broken` 2, `text` HTML, `missing` an object without `StatusCode`, any other 1 |
/// | `Url` | http or https 0, with `broken` in it 2, `text` HTML, `missing` without `StatusCode`, any other 1 |
/// | a session that is unknown, over or another's | 2 |
///
/// The password may be anything but empty. A session is over when its second step was answered.
enum ImportScripts {
    /// What a service says.
    enum Outcome: Sendable, Equatable {
        case started
        case refused
        case serverError
        case notJSON
        case keyMissing
        case sessionMissing
        /// A session is opened and the second step awaited.
        case continued
    }

    static let question = "First pet?"

    static func twentyThreeAndMe(login: String) -> Outcome {
        let word = word(of: login)
        return word == "ada" || word == "question" ? .continued : common(word)
    }

    static func ancestry(login: String) -> Outcome {
        let word = word(of: login)
        return word == "started" || word == "slow" ? .continued : common(word)
    }

    /// Whether the import takes longer than others that start after it.
    static func isSlow(login: String) -> Bool { word(of: login) == "slow" }

    static func answer(_ text: String) -> Outcome {
        text.lowercased() == "turing" ? .started : second(text)
    }

    static func link(_ url: String) -> Outcome {
        if url.contains("broken") { return .serverError }
        let rest = ["https://", "http://"].first(where: url.hasPrefix).map { url.dropFirst($0.count) }
        let host = rest?.prefix { $0 != "/" && $0 != "?" && $0 != "#" } ?? ""
        return host.isEmpty || host.contains(" ") ? second(url) : .started
    }

    private static func word(of login: String) -> String {
        login.prefix { $0 != "@" }.lowercased()
    }

    private static func common(_ word: String) -> Outcome {
        switch word {
        case "started", "slow": .started
        case "broken": .serverError
        case "text": .notJSON
        case "missing": .keyMissing
        case "nosession": .sessionMissing
        default: .refused
        }
    }

    private static func second(_ word: String) -> Outcome {
        switch word {
        case "broken": .serverError
        case "text": .notJSON
        case "missing": .keyMissing
        default: .refused
        }
    }
}
#endif

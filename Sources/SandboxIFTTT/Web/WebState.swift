#if Sandbox
import SandboxCore

/// What the web flow remembers of browsers, attempts and mails (IFTTT Connect dossier, section 11.3).
struct WebState: Sendable {
    private(set) var sessions: [String: WebSession] = [:]
    private(set) var attempts: [String: Attempt] = [:]
    private(set) var mails: [Mail] = []
    private var sessionOrder: [String] = []
    private var attemptOrder: [String] = []

    /// How many of each kind are kept. Beyond it, the oldest is forgotten.
    static let limit = 1000

    mutating func add(_ session: WebSession, id: String) {
        if sessionOrder.count >= Self.limit { sessions[sessionOrder.removeFirst()] = nil }
        sessionOrder.append(id)
        sessions[id] = session
    }

    mutating func endSession(_ id: String) {
        sessions[id] = nil
        sessionOrder.removeAll { $0 == id }
    }

    mutating func set(_ attempt: Attempt) {
        if attempts[attempt.id] == nil {
            if attemptOrder.count >= Self.limit { attempts[attemptOrder.removeFirst()] = nil }
            attemptOrder.append(attempt.id)
        }
        attempts[attempt.id] = attempt
    }

    mutating func add(_ mail: Mail) {
        if mails.count >= Self.limit { mails.removeFirst() }
        mails.append(mail)
    }

    /// Lets another session go on with what this one began.
    mutating func moveAttempts(from oldID: String, to newID: String) {
        for id in attemptOrder where attempts[id]?.sessionID == oldID { attempts[id]?.sessionID = newID }
    }

    /// Takes a mail's link, which works once and until it expires.
    mutating func takeMail(_ word: String, at now: Double) -> Mail? {
        guard let index = mails.firstIndex(where: { $0.word == word }), mails[index].isLive(at: now) else { return nil }
        mails[index].isUsed = true
        return mails[index]
    }
}

/// What IFTTT's site remembers of one browser.
struct WebSession: Sendable {
    /// Proves that a form was made for this browser (against cross-site request forgery).
    let formToken = RandomText.base64URL(bytes: 18)
    /// Nil until a user has signed in.
    var login: String?
}

/// A mail with a link that continues an attempt in any browser.
struct Mail: Sendable {
    /// The last part of the link.
    let word: String
    let attemptID: String
    let to: String
    let login: String
    let connectionName: String
    let sentAt: Double
    var isUsed = false

    /// A quarter of an hour.
    static let lifetime: Double = 900

    func isLive(at now: Double) -> Bool {
        !isUsed && now < sentAt + Self.lifetime
    }

    func link(origin: String) -> String {
        "\(origin)/mail/\(word)"
    }

    func json(origin: String, at now: Double) -> JSON {
        [
            "to": .string(to), "subject": .string("Continue with \(connectionName)"),
            "link": .string(link(origin: origin)), "sent_at": .number(Int(sentAt)), "is_live": .bool(isLive(at: now)),
        ]
    }
}
#endif

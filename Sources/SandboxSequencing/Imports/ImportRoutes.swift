#if Sandbox
import HTTPTypes
import SandboxCore

/// The imports from 23andMe and Ancestry, in two steps each (Sequencing dossier, sections 3.1 and 3.2).
///
/// The third party's password is looked at for being there and forgotten.
struct ImportRoutes: Sendable {
    let access: Access
    let library: FileLibrary
    private let sessions = ImportSessions()
    private static let twentyThreeAndMe = "23andMe"
    private static let ancestry = "Ancestry"

    init(access: Access, library: FileLibrary) {
        self.access = access
        self.library = library
    }

    var routes: [Route] {
        [
            Route(
                "POST", path: "/23andMe/Download", note: "import by Login and Password; Bearer",
                answer: access.answering(download)),
            Route(
                "POST", path: "/23andMe/DownloadWithSecurity", note: "SeqAnswer to a SessionId; Bearer",
                answer: access.answering(answerQuestion)),
            Route(
                "POST", path: "/Ancestry/Authorize", note: "import by Login and Password; Bearer",
                answer: access.answering(authorize)),
            Route(
                "POST", path: "/Ancestry/Download", note: "the mailed Url to a SessionId; Bearer",
                answer: access.answering(fetch)),
        ]
    }

    private func download(
        _ request: IncomingRequest, _ caller: Access.Caller
    ) throws(APIRefusal) -> Answer {
        let login = try login(request, caller)
        let outcome = ImportScripts.twentyThreeAndMe(login: login)
        if outcome == .started { receive(Self.twentyThreeAndMe, login: login, subject: caller.user.subject) }
        func answer(_ status: Int, asks: Bool = false, session: String? = nil) -> JSON {
            [
                "StatusCode": .number(status), "SecurityQuestion": asks ? .string(ImportScripts.question) : .null,
                "SessionId": JSON(session),
            ]
        }
        switch outcome {
        case .started: return .json(answer(0))
        case .refused: return .json(answer(1))
        case .serverError: return .json(answer(3))
        case .notJSON: return Self.notJSON
        case .keyMissing: return .json(["StatusCode": 2, "SecurityQuestion": .string(ImportScripts.question)])
        case .sessionMissing: return .json(answer(2, asks: true))
        case .continued:
            return .json(answer(2, asks: true, session: begin(Self.twentyThreeAndMe, login: login, caller)))
        }
    }

    private func authorize(
        _ request: IncomingRequest, _ caller: Access.Caller
    ) throws(APIRefusal) -> Answer {
        let login = try login(request, caller)
        switch ImportScripts.ancestry(login: login) {
        case .started, .refused: return .json(["StatusCode": 1, "SessionId": nil])
        case .serverError: return .json(["StatusCode": 2, "SessionId": nil])
        case .notJSON: return Self.notJSON
        case .keyMissing: return .json(["StatusCode": 0])
        case .sessionMissing: return .json(["StatusCode": 0, "SessionId": nil])
        case .continued:
            return .json(["StatusCode": 0, "SessionId": .string(begin(Self.ancestry, login: login, caller))])
        }
    }

    private func answerQuestion(
        _ request: IncomingRequest, _ caller: Access.Caller
    ) throws(APIRefusal) -> Answer {
        try secondStep(request, caller, member: "SeqAnswer", service: Self.twentyThreeAndMe, ImportScripts.answer)
    }

    private func fetch(_ request: IncomingRequest, _ caller: Access.Caller) throws(APIRefusal) -> Answer {
        try secondStep(request, caller, member: "Url", service: Self.ancestry, ImportScripts.link)
    }

    private func secondStep(
        _ request: IncomingRequest, _ caller: Access.Caller, member: String, service: String,
        _ script: (String) -> ImportScripts.Outcome
    ) throws(APIRefusal) -> Answer {
        try caller.demand(.external)
        let body = try Access.object(request)
        guard let text = body[member]?.scalarText, !text.isEmpty else { throw .invalidRequest("\(member) is missing") }
        let subject = caller.user.subject
        guard let session = sessions.end(body["SessionId"]?.scalarText, subject: subject, service: service) else {
            return .json(["StatusCode": 2])
        }
        switch script(text) {
        case .started, .continued:
            receive(service, login: session.login, subject: subject)
            return .json(["StatusCode": 0])
        case .refused, .sessionMissing: return .json(["StatusCode": 1])
        case .serverError: return .json(["StatusCode": 2])
        case .notJSON: return Self.notJSON
        case .keyMissing: return .json([:])
        }
    }

    private func login(
        _ request: IncomingRequest, _ caller: Access.Caller
    ) throws(APIRefusal) -> String {
        try caller.demand(.external)
        let body = try Access.object(request)
        guard let login = body["Login"]?.scalarText, !login.isEmpty,
            let password = body["Password"]?.scalarText, !password.isEmpty
        else { throw .invalidRequest("Login or Password is missing") }
        return login
    }

    private func begin(_ service: String, login: String, _ caller: Access.Caller) -> String {
        sessions.begin(ImportSessions.Session(subject: caller.user.subject, service: service, login: login))
    }

    private func receive(_ service: String, login: String, subject: String) {
        let owner = login.prefix { $0 != "@" }
        library.receive(
            "\(service.lowercased())_\(owner).txt", type: service, for: subject,
            after: ImportScripts.isSlow(login: login) ? FileLibrary.slowImportDuration : FileLibrary.importDuration)
    }

    private static let notJSON = Answer(
        status: 200, headers: [.contentType: "text/html; charset=utf-8"],
        body: Array("<!doctype html><title>Maintenance</title><p>We will be back soon.</p>".utf8))
}
#endif

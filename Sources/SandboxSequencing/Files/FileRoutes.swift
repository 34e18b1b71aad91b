#if Sandbox
import HTTPTypes
import SandboxCore

/// The file list and the raw download (Sequencing dossier, sections 4.1 and 6).
struct FileRoutes: Sendable {
    let access: Access
    let library: FileLibrary

    var routes: [Route] {
        [
            Route(
                "GET", path: "/DataSourceList",
                note: "files; flags all, sample, uploaded, shared, fromApps, allWithAltruist, each =true; Bearer",
                answer: access.answering(list)),
            Route(
                "GET", path: "/File/Download", note: "a file's bytes by its GUID in id; Bearer",
                answer: access.answering(download)),
        ]
    }

    /// The categories behind each flag; `all` is every one, samples and unknown words included.
    private static let flags: [(name: String, categories: [GeneticFile.Category])] = [
        ("all", GeneticFile.Category.allCases), ("sample", [.community]), ("uploaded", [.uploaded]),
        ("shared", [.sharedToMe]), ("fromApps", [.fromApps]), ("allWithAltruist", [.allWithAltruist]),
    ]

    /// Files of a kind that the token is not for are left out; when that is all that was asked for, the answer is 403
    /// and not a list that looks empty.
    private func list(
        _ request: IncomingRequest, _ caller: Access.Caller
    ) throws(APIRefusal) -> Answer {
        let asked = Self.asked(request)
        guard !asked.isEmpty else { throw .invalidRequest("no flag is true") }
        let allowed = asked.filter { caller.has($0 == .community ? .demo : .external) }
        guard !allowed.isEmpty else { throw .insufficientScope(asked.contains(.community) ? .demo : .external) }
        return Self.answer(library.all(subject: caller.user.subject).filter { allowed.contains($0.category) })
    }

    /// The categories that the request's flags ask for.
    static func asked(_ request: IncomingRequest) -> [GeneticFile.Category] {
        flags.filter { request.query[$0.name] == "true" }.flatMap(\.categories)
    }

    /// The list as it goes over the wire.
    static func answer(_ files: [GeneticFile]) -> Answer {
        .json(.array(files.map(\.json)))
    }

    private func download(
        _ request: IncomingRequest, _ caller: Access.Caller
    ) throws(APIRefusal) -> Answer {
        let guid = request.query["id"]?.lowercased()
        guard let file = library.all(subject: caller.user.subject).first(where: { $0.guid == guid }) else {
            throw .fileNotFound
        }
        let permitted = try library.file(String(file.id), for: caller)
        return Answer(
            status: 200, headers: [.contentType: "application/octet-stream"], body: permitted.contents)
    }
}
#endif

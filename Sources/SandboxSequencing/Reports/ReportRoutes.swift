#if Sandbox
import HTTPTypes
import SandboxCore

/// Report files under all their spellings (Sequencing dossier, section 5.7).
struct ReportRoutes: Sendable {
    let access: Access
    let library: FileLibrary

    var routes: [Route] {
        ["", "/v1", "/v2", "/v1/v2"].map { version in
            Route(
                "GET", path: version + "/GetReportFile", note: "a report file by id, or by idJob, the same; Bearer",
                answer: access.answering(file))
        }
    }

    /// A report about a file that the user does not have is as unknown as any other.
    private func file(
        _ request: IncomingRequest, _ caller: Access.Caller
    ) throws(APIRefusal) -> Answer {
        guard let text = request.query["id"] ?? request.query["idJob"], let id = Int(text) else {
            throw .invalidRequest("id is not a number")
        }
        switch ReportFiles.content(id) {
        case .document(let fileID):
            let file = try subject(fileID, caller)
            return Self.report(id, AnswerBody(SmallDocument.bytes(saying: "Report on file \(file.id), made up")))
        case .data(let fileID):
            let file = try subject(fileID, caller)
            let table = "file,risk\r\n\(file.id),\(file.risk.rawValue)\r\n"
            return Answer(
                status: 200, headers: [.contentType: "text/csv; charset=utf-8"], body: Array(table.utf8))
        case .generated(let bytes): return Self.report(id, GeneratedReport.body(bytes: bytes))
        case nil: throw .reportNotFound
        }
    }

    private func subject(_ fileID: Int, _ caller: Access.Caller) throws(APIRefusal) -> GeneticFile {
        do throws(APIRefusal) {
            return try library.file(String(fileID), for: caller)
        } catch {
            throw error == .fileNotFound ? .reportNotFound : error
        }
    }

    private static func report(_ id: Int, _ body: AnswerBody) -> Answer {
        Answer(status: 200, headers: [.contentType: "application/pdf"], body: body)
            .setting("Content-Disposition", "attachment; filename=\"report_\(id).pdf\"")
    }
}
#endif

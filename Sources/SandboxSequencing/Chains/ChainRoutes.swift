#if Sandbox
import SandboxCore

/// Starting app chains and asking after their jobs, in all versions (Sequencing dossier, sections 5.3 to 5.5 and 5.9).
struct ChainRoutes: Sendable {
    let access: Access
    let library: FileLibrary
    private let jobs = JobStore()

    init(access: Access, library: FileLibrary) {
        self.access = access
        self.library = library
    }

    /// `/v1/v2` is what a C# client makes of a base URL that has a version already (Sequencing dossier, W35).
    var routes: [Route] {
        ["/v2", "/v1/v2"].flatMap(starting) + [
            Route(
                "POST", path: "/v1/StartApp", note: "start one chain, answered with a job id only; Bearer",
                answer: access.answering(startFirstVersion))
        ] + ["", "/v1", "/v2", "/v1/v2"].flatMap(polling)
    }

    private func starting(_ version: String) -> [Route] {
        [
            Route(
                "POST", path: version + "/StartApp", note: "start one chain; Bearer", answer: access.answering(start)),
            Route(
                "POST", path: version + "/StartAppBatch", note: "start several; Bearer",
                answer: access.answering(startBatch)),
            Route(
                "POST", path: version + "/GetAppResultsBatch", note: "poll several; Bearer",
                answer: access.answering(pollBatch)),
        ]
    }

    private func polling(_ version: String) -> [Route] {
        [
            Route(
                "GET", path: version + "/GetAppResults", note: "poll the job idJob; Bearer",
                answer: access.answering(poll)),
            Route(
                "GET", path: version + "/CheckAppStatus",
                note: "the status word of the job idJob, which counts as a poll; Bearer",
                answer: access.answering(checkStatus)),
        ]
    }

    private func start(
        _ request: IncomingRequest, _ caller: Access.Caller
    ) throws(APIRefusal) -> Answer {
        .json(try started(request, caller).json)
    }

    private func startFirstVersion(
        _ request: IncomingRequest, _ caller: Access.Caller
    ) throws(APIRefusal) -> Answer {
        .json(["status": true, "jobId": .number(try started(request, caller).id)])
    }

    private func started(
        _ request: IncomingRequest, _ caller: Access.Caller
    ) throws(APIRefusal) -> ChainJob {
        let call = try call(try Access.object(request), for: caller)
        guard let job = try jobs.start([call], subject: caller.user.subject).first else { throw .internalError }
        return job
    }

    private func startBatch(
        _ request: IncomingRequest, _ caller: Access.Caller
    ) throws(APIRefusal) -> Answer {
        guard let elements = try Access.object(request)["Pars"]?.elements, !elements.isEmpty else {
            throw .invalidRequest("Pars is not a list of chains")
        }
        var calls: [(chain: ChainFixture, file: GeneticFile)] = []
        for element in elements { calls.append(try call(element, for: caller)) }
        let started = try jobs.start(calls, subject: caller.user.subject)
        return .json(
            .array(started.map { ["Key": .string("Chain\($0.chain.number)"), "Value": $0.json] }))
    }

    /// Reads `{"AppCode": …, "Pars": [{"Name": "dataSourceId", "Value": …}]}`; C# may send `ValueLong` instead.
    private func call(
        _ json: JSON, for caller: Access.Caller
    ) throws(APIRefusal) -> (chain: ChainFixture, file: GeneticFile) {
        guard let code = json["AppCode"]?.scalarText else { throw .invalidRequest("AppCode is missing") }
        guard let chain = ChainCatalogue.chain(code) else { throw .chainNotFound }
        let parameter = json["Pars"]?.elements?.first { $0["Name"] == "dataSourceId" }
        guard let id = parameter?["Value"]?.scalarText ?? parameter?["ValueLong"]?.scalarText else {
            throw .invalidRequest("dataSourceId is missing")
        }
        return (chain, try library.file(id, for: caller))
    }

    private func poll(
        _ request: IncomingRequest, _ caller: Access.Caller
    ) throws(APIRefusal) -> Answer {
        .json(try job(request, caller).json)
    }

    private func checkStatus(
        _ request: IncomingRequest, _ caller: Access.Caller
    ) throws(APIRefusal) -> Answer {
        .json(.string(try job(request, caller).word))
    }

    /// An unknown id is 404 and one that is not a number 400.
    private func job(
        _ request: IncomingRequest, _ caller: Access.Caller
    ) throws(APIRefusal) -> ChainJob {
        guard let id = request.query["idJob"].flatMap({ Int($0) }) else {
            throw .invalidRequest("idJob is not a number")
        }
        guard let job = try polled([id], caller).first else { throw .jobNotFound }
        return job
    }

    /// Ids may be numbers or, as Perl sends them, strings.
    private func pollBatch(
        _ request: IncomingRequest, _ caller: Access.Caller
    ) throws(APIRefusal) -> Answer {
        guard let elements = try Access.object(request)["JobIds"]?.elements else {
            throw .invalidRequest("JobIds is not a list")
        }
        let ids = elements.compactMap(\.integer)
        guard ids.count == elements.count else { throw .invalidRequest("JobIds contains a value that is not a number") }
        return .json(.array(try polled(ids, caller).map(\.json)))
    }

    private func polled(_ ids: [Int], _ caller: Access.Caller) throws(APIRefusal) -> [ChainJob] {
        do throws(APIRefusal) {
            return try jobs.poll(ids, subject: caller.user.subject)
        } catch {
            if error == .invalidToken { access.server.endAccess(caller.token) }
            throw error
        }
    }
}
#endif

import Handshake
public import OAuth

/// The version of the chain protocol.
public enum ProtocolVersion: String, Sendable, Hashable, Codable {
    /// Starting returns only an identifier (dossier 5.9). Jobs are polled one by one. For chains that support nothing
    /// newer.
    case one = "v1"
    /// Starting returns the results where they are available. Batches start together, and one request polls many jobs.
    case two = "v2"
}

/// The requests of the job protocol; a run consists of them.
extension Sequencing {
    /// Starts one chain (dossier 5.3). The job may already be complete. Never retried.
    ///
    /// - Throws: ``SequencingError``, or `CancellationError`; then it is unknown whether the job was started.
    public func start(_ call: ChainCall) async throws -> Job {
        do {
            return try Job(try await api.json(.post("StartApp", "/v2/StartApp", call.json)), answer: "StartApp")
        } catch let error as SequencingError {
            throw error.concerning(chain: call.chain, file: call.file)
        }
    }

    /// Starts a job with a custom body (dossier 10, E08). An example is `{"AppCode":…,"Pars":[…]}`. Never retried.
    ///
    /// - Throws: as ``start(_:)``.
    public func start(body: JSONValue) async throws -> Job {
        try Job(try await api.json(.post("StartApp", "/v2/StartApp", body)), answer: "StartApp")
    }

    /// Starts several calls in one request (dossier 5.5). Never retried.
    ///
    /// - Returns: one entry for each call, in order; nil where the service omitted one.
    /// - Throws: as ``start(_:)``.
    public func startBatch(_ calls: [ChainCall]) async throws -> [Job?] {
        let body = JSONValue.object(["Pars": .array(calls.map(\.json))])
        let answer = try await api.json(.post("StartAppBatch", "/v2/StartAppBatch", body))
        return try Self.jobs(ofBatch: answer, calls: calls)
    }

    /// Polls one job (dossier 5.4).
    ///
    /// - Throws: ``SequencingError``, or `CancellationError`.
    public func job(_ id: JobID, version: ProtocolVersion = .two) async throws -> Job {
        let target = "/\(version.rawValue)/GetAppResults?idJob=\(id)"
        let answer: JSONValue
        do {
            answer = try await api.json(.get("GetAppResults", target))
        } catch SequencingError.service(status: 404, _, _) {
            throw SequencingError.unknownJob(id)
        }
        let job = try Job(answer)
        guard job.id == id else {
            throw SequencingError.malformed(
                answer: "GetAppResults", member: "Status.IdJob", expected: "\(id)", found: "\(job.id)")
        }
        return job
    }

    /// Polls several jobs in one request (dossier 5.5).
    ///
    /// - Returns: the jobs by identifier, without those that the service omits.
    /// - Throws: ``SequencingError``, or `CancellationError`.
    public func jobs(_ ids: [JobID]) async throws -> [JobID: Job] {
        var operation = Exchange.Operation.post(
            "GetAppResultsBatch", "/v2/GetAppResultsBatch",
            .object(["JobIds": .array(ids.map { .number(String($0.number)) })]))
        operation.isIdempotent = true
        let elements = try Members.list(try await api.json(operation), answer: operation.name)
        let asked = Set(ids)
        var jobs: [JobID: Job] = [:]
        for (index, element) in elements.enumerated() {
            let job = try Job(element, answer: operation.name, place: "[\(index)]")
            if asked.contains(job.id) { jobs[job.id] = job }
        }
        return jobs
    }

    /// Starts one chain with version 1 (dossier 5.9). It returns only the job's identifier. Never retried.
    ///
    /// - Throws: as ``start(_:)``.
    public func startVersionOne(_ call: ChainCall) async throws -> JobID {
        do {
            let answer = try Members(
                try await api.json(.post("StartApp", "/v1/StartApp", call.json)), answer: "v1 StartApp")
            let number = try answer.requiredInteger("jobId")
            guard number != 0 else { throw answer.wrong("jobId", expected: "a number that is not 0") }
            return JobID(number)
        } catch let error as SequencingError {
            throw error.concerning(chain: call.chain, file: call.file)
        }
    }

    /// Polls a job's status with version 1 (dossier 5.9, `CheckAppStatus`). The answer is a plain string.
    ///
    /// - Throws: ``SequencingError``, or `CancellationError`.
    public func status(ofVersionOne id: JobID) async throws -> JobStatus {
        let answer = try await api.json(.get("CheckAppStatus", "/v1/CheckAppStatus?idJob=\(id)"))
        guard let word = answer.string else {
            throw SequencingError.malformed(
                answer: "CheckAppStatus", member: "content", expected: "a string", found: answer.described)
        }
        return JobStatus(word)
    }

    /// Matches the answer of a batch with its calls: by position where the keys agree, otherwise by the first unused entry
    /// with the same key.
    ///
    /// The service answers in the order of the request; matching by key is a safeguard.
    static func jobs(ofBatch answer: JSONValue, calls: [ChainCall]) throws(SequencingError) -> [Job?] {
        var entries: [(key: String, job: Job)?] = []
        for (index, element) in try Members.list(answer, answer: "StartAppBatch").enumerated() {
            let entry = try Members(element, answer: "StartAppBatch", place: "[\(index)]")
            guard let value = entry["Value"] else { throw entry.wrong("Value", expected: "an object") }
            let job = try Job(value, answer: "StartAppBatch", place: "[\(index)].Value")
            entries.append((try entry.text("Key").lowercased(), job))
        }
        guard !entries.isEmpty || calls.isEmpty else {
            throw .malformed(
                answer: "StartAppBatch", member: "content", expected: "a result for each chain", found: "none")
        }
        return calls.enumerated().map { place, call in
            let key = call.chain.string.lowercased()
            let isInPlace = place < entries.count && entries[place]?.key == key
            guard let index = isInPlace ? place : entries.firstIndex(where: { $0?.key == key }) else { return nil }
            defer { entries[index] = nil }
            return entries[index]?.job
        }
    }
}

/// The one request of a sheet that is under way.
@MainActor
final class AskedRequest {
    private var task: Task<Void, Never>?

    /// Asks, and hands the answer over, unless it comes after ``cancel()``: by then the sheet may show another request.
    func begin<Answer: Sendable>(
        _ ask: @escaping @Sendable () async throws -> Answer,
        then show: @escaping @MainActor (Result<Answer, any Error>) -> Void
    ) {
        task = Task {
            let answer: Result<Answer, any Error>
            do { answer = .success(try await ask()) } catch { answer = .failure(error) }
            if !Task.isCancelled { show(answer) }
        }
    }

    /// Stops waiting for an answer.
    func cancel() {
        task?.cancel()
    }

    /// Waits until no request is under way.
    func finish() async {
        await task?.value
    }
}

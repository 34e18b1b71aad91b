public import Handshake
public import Observation
public import Sequencing

/// A selector whose list comes from an account.
///
/// It loads and refreshes the list, and keeps the choice. SwiftUI's `FileSelector` draws it; an app may draw it in its own way.
@MainActor @Observable
public final class FileSelectorModel {
    /// What the user sees, and the functions for the user's actions.
    public var state: FileSelectorState
    /// Called when the user forgets the choice of an earlier launch.
    ///
    /// Remove what the app has stored of it.
    @ObservationIgnored public var onForget: (@MainActor () -> Void)?

    private let time: TimeSource
    private let list: @Sendable () async throws -> FileList
    @ObservationIgnored private var loading: Task<Void, Never>?

    /// Creates a model for an account. Nothing is asked before ``load()``.
    ///
    /// - Parameters:
    ///   - genome: the user's account.
    ///   - subset: the files to choose from.
    ///   - remembered: the choice of an earlier launch.
    ///   - time: the clock of the list's age.
    public convenience init(
        _ genome: Sequencing, subset: FileSubset = .all, remembered: RememberedChoice? = nil,
        time: TimeSource = .system
    ) {
        self.init(remembered: remembered, time: time) { try await genome.fileList(subset) }
    }

    /// Creates a model whose list comes from elsewhere, such as an app's own server.
    public init(
        remembered: RememberedChoice? = nil, time: TimeSource = .system,
        list: @escaping @Sendable () async throws -> FileList
    ) {
        state = FileSelectorState(remembered: remembered)
        self.time = time
        self.list = list
    }

    /// Now, in seconds since 1970.
    var now: Double { time.now() }

    /// Loads the list, or refreshes it. Callers meanwhile wait for the same answer.
    ///
    /// A list that is there stays in view until the new one has arrived, and when it cannot be refreshed.
    public func load() async {
        if let loading { return await loading.value }
        state.reload()
        let task = Task {
            let result: Result<FileList, any Error>
            do { result = .success(try await list()) } catch { result = .failure(error) }
            // A load that was cancelled says nothing; another may have begun meanwhile.
            guard !Task.isCancelled else { return }
            loading = nil
            switch result {
            case .success(let list): state.show(list, at: time.now())
            case .failure(is CancellationError): state.fail(.unreachable)
            case .failure(let error): state.fail(FileProblem(error))
            }
        }
        loading = task
        await task.value
    }

    /// Ends a load that is under way, as after the user has closed the selector.
    ///
    /// What is shown stays, and the next load asks again.
    public func cancel() {
        loading?.cancel()
        loading = nil
        state.endRefresh()
    }

    /// Forgets the choice of an earlier launch, and tells the app. The selection stays.
    public func forget() {
        state.forget()
        onForget?()
    }

    /// Takes the file with which the user continues.
    ///
    /// It is selected, and ends the choice of an earlier launch where that was another file.
    ///
    /// - Returns: the selected file. If a file of the user's and a sample have the same identifier, it is the user's.
    @discardableResult
    public func choose(_ file: GeneticFile) -> GeneticFile {
        state.select(file.id)
        let chosen = state.selected.flatMap { $0.id == file.id ? $0 : nil } ?? file
        state.remember(chosen)
        return chosen
    }

    /// Waits until no load is under way.
    func finish() async {
        await loading?.value
    }
}

import Synchronization

/// Whether a reader has gone. A class, because the reading thread and the reader share it.
final class CancellationFlag: Sendable {
    private let flag = Atomic(false)

    func set() { flag.store(true, ordering: .relaxed) }
    var isSet: Bool { flag.load(ordering: .relaxed) }
}

import Foundation

/// What a program writes into a pipe. Opening waits until one does: for ever, if none is started.
///
/// So a test that may fail before has it in a `Task`, which it does not await then.
func contents(ofPipe path: String) async -> String {
    await withCheckedContinuation { continuation in
        Thread.detachNewThread {
            let bytes = try? FileHandle(forReadingAtPath: path)?.readToEnd()
            continuation.resume(returning: String(decoding: bytes ?? Data(), as: UTF8.self))
        }
    }
}

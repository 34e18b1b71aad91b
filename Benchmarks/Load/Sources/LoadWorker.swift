import Foundation
import HTTPTypes
import Handshake
import OAuth
import Synchronization

/// A process that uses random accounts: finds the account, gets a fresh token, and sends a request with it. It reports each second what it has done.
struct LoadWorker {
    /// What a process reports.
    struct Told: Codable, Sendable {
        var requests = 0
        var refreshes = 0
        var ended = 0
        /// Requests that found no token, by the code of the error.
        var failures: [String: Int] = [:]
        /// Microseconds of requests without a refresh, in 20 steps a factor of ten.
        var times = [Int](repeating: 0, count: 160)
        /// The same of requests that waited for a refresh, in this process or another one.
        var refreshTimes = [Int](repeating: 0, count: 160)

        /// Counts a request that took so many microseconds.
        mutating func count(_ microseconds: Double, isRefreshed: Bool) {
            let step = min(max(Int(log10(max(microseconds, 1)) * 20), 0), 159)
            requests += 1
            if isRefreshed { refreshTimes[step] += 1 } else { times[step] += 1 }
        }

        mutating func add(_ other: Told) {
            requests += other.requests
            refreshes += other.refreshes
            ended += other.ended
            failures.merge(other.failures, uniquingKeysWith: +)
            for step in times.indices {
                times[step] += other.times[step]
                refreshTimes[step] += other.refreshTimes[step]
            }
        }

        /// The time in milliseconds below which this share of requests stayed; infinite without requests.
        static func quantile(_ share: Double, of times: [Int]) -> Double {
            let all = times.reduce(0, +)
            guard all > 0 else { return .infinity }
            var count = 0
            for (step, number) in times.enumerated() {
                count += number
                if Double(count) >= Double(all) * share { return pow(10, Double(step + 1) / 20) / 1_000 }
            }
            return .infinity
        }
    }

    static func run(_ place: LoadApp.Place) async throws {
        let handshake = try await place.handshake()
        let told = Guarded(Told())
        let events = handshake.events
        let counting = Task {
            for await event in events {
                told.withLock { told in
                    switch event.change {
                    case .refreshed: told.refreshes += 1
                    case .ended: told.ended += 1
                    default: break
                    }
                }
            }
        }
        await withDiscardingTaskGroup { group in
            for _ in 0..<place.tasks {
                group.addTask { while !Task.isCancelled { await use(handshake, place, told) } }
            }
            group.addTask {
                var options = Keeper.Options()
                options.listsAccounts = false
                options.limit = Keeper.RateLimit(perSecond: 5_000, concurrent: 64)
                await Keeper(handshake, options: options).run()
            }
            group.addTask {
                while (try? await Task.sleep(for: .seconds(1))) != nil {
                    let now = told.withLock { told in
                        defer { told = Told() }
                        return told
                    }
                    guard let line = try? JSONEncoder().encode(now) else { continue }
                    say(String(decoding: line, as: UTF8.self))
                }
            }
        }
        counting.cancel()
    }

    private static func use(_ handshake: Handshake, _ place: LoadApp.Place, _ told: Guarded<Told>) async {
        let start = ContinuousClock.now
        do {
            guard let account = try await handshake.account("\(Int.random(in: 0..<place.accounts))") else {
                return told.withLock { $0.failures["absent", default: 0] += 1 }
            }
            let before = account.status.generation
            let response = try await account.send(.get, "me")
            let microseconds = start.duration(to: .now) / .microseconds(1)
            let isRefreshed = account.status.generation != before
            told.withLock { told in
                told.count(microseconds, isRefreshed: isRefreshed)
                if response.head.status.code != 200 {
                    told.failures["status \(response.head.status.code)", default: 0] += 1
                }
            }
        } catch {
            let code = (error as? HandshakeError)?.code ?? "\(type(of: error))"
            told.withLock { $0.failures[code, default: 0] += 1 }
            // As a client that waits before it tries again.
            try? await Task.sleep(for: .milliseconds(50))
        }
    }
}

import Beacons
import Circles
import Crypto
import Foundation
import Handshake
import OAuth

extension JoinedCircle {
    /// Keeps the published keys and the tables current until the task is cancelled.
    ///
    /// Tables are fetched three to six hours after the last time, whatever is heard meanwhile. A failure is retried a quarter of
    /// an hour to half an hour later. Whatever restarts this function, a synchronisation does not begin within a minute of one that did
    /// not succeed: a server could restart a watch without end, and no alert would be shown.
    ///
    /// - Parameter report: receives why a synchronisation failed; nil when it succeeded.
    /// - Throws: `CancellationError` alone.
    public func keepSynchronized(report: @Sendable (NearbyError?) async -> Void) async throws {
        while true {
            do {
                let wait = try await CircleEnvironment.placing { try await untilNext() }
                if wait > 0 { try await environment.time.clock.sleep(for: .seconds(wait)) }
                try await delayRestart(by: Self.restartPause)
                _ = try await synchronize()
                await report(nil)
            } catch NearbyError.circle(.pinsLost(let circle)) {
                // Said once, after everything else was done.
                await report(.circle(.pinsLost(circle: circle)))
            } catch let error as NearbyError {
                let pause = environment.random(Self.retryPause)
                switch error {
                // The user can put these right, and then start a watch that should not wait.
                case .circle(.network), .circle(.clock): break
                default: try? await delayRestart(by: pause)
                }
                await report(error)
                try await environment.time.clock.sleep(for: .seconds(pause))
            }
        }
    }

    /// Stores that ``keepSynchronized(report:)`` does not synchronise for so many seconds, also when it is called again.
    private func delayRestart(by pause: Double) async throws {
        let moment = now + pause
        try await CircleEnvironment.placing { try await records.changeState { $0.retryFrom = moment } }
    }

    /// How long it is until the next synchronisation, in seconds.
    private func untilNext() async throws -> Double {
        let state = try await state()
        // A clock that was set back, or a state of another time, must not put it off for days.
        let rest = min(max((state.retryFrom ?? 0) - now, 0), Self.retryPause.upperBound)
        guard try !mustPublish(state), !state.hasNews, try await records.readableTable() != nil else { return rest }
        let next = state.isPaused ? state.nextSync : min(state.nextSync, state.nextPublish)
        return max(rest, min(max(next - now, 0), Self.maximumPause))
    }

    private static let maximumPause = 21_600.0
    static let pause = 10_800.0...21_600.0
    static let retryPause = 900.0...1_800.0
    static let restartPause = 60.0

    /// Publishes keys if they are due, and fetches what changed in the tables.
    ///
    /// A table that cannot be read is fetched whole. Its pins are lost: ``CircleProblem/pinsLost(circle:)`` is thrown, once, after
    /// everything else is done. What else fails then is in ``Summary/trouble``, and is thrown by the next synchronisation.
    ///
    /// - Returns: how many members the table has.
    @discardableResult
    public func synchronize() async throws -> Int {
        let count: Int
        do {
            count = try await synchronizeQuietly()
        } catch let error as NearbyError {
            // Of a table that could not be stored again this error says what to do; its loss is reported once it is stored.
            if (try? await records.readableTable()) != nil { try await reportLoss() }
            throw error
        }
        try await reportLoss()
        return count
    }

    /// As ``synchronize()``, which reports the next time that pins are lost.
    ///
    /// Where the user has joined again meanwhile, which ends the former bearer, it begins again with the new one.
    func synchronizeQuietly() async throws -> Int {
        let bearer = try await CircleEnvironment.placing { try await state().bearer }
        do {
            return try await CircleEnvironment.placing { try await synchronizeNow() }
        } catch let error as NearbyError {
            if error == .circle(.signedOut), let present = try? await state().bearer, present != bearer {
                return try await synchronizeQuietly()
            }
            try? await records.changeState { state in
                // The user may have joined again meanwhile, with another bearer.
                guard state.bearer == bearer else { return }
                state.trouble = "\(error)"
                if error == .circle(.signedOut) { state.isSignedOut = true }
            }
            throw error
        }
    }

    /// Throws that pins are lost, where it was not thrown yet: a synchronisation that has lost them may have been cancelled.
    private func reportLoss() async throws {
        guard let state = try? await records.state(), state.isLossReported == false, let loss = state.loss(at: now)
        else { return }
        try? await records.changeState { $0.isLossReported = true }
        throw NearbyError.circle(loss)
    }

    private func synchronizeNow() async throws -> Int {
        let before = try await state()
        let info = try await server(before).info()
        let ahead = clockError(info)
        try await noteClock(isOff: ahead != nil)
        try await takeEpoch(of: info)
        var trouble: (any Error)?
        do {
            try await deliverNews()
            try await fetchHidden()
        } catch let error as CircleProblem {
            // Others can be recognised all the same.
            trouble = error
        }
        if try await state().mustFetchWhole == true {
            // The server does not send a row again that it has sent.
            try await fetchTablesWhole()
            try await records.changeState { $0.mustFetchWhole = nil }
        }
        let table = try await fetchTables()
        try await fetchPhotos(table)
        let moment = now
        // A clock that is off may be put right at any time.
        let next = ahead == nil ? moment + environment.random(Self.pause) : 0
        let isComplete = trouble == nil && ahead == nil
        try await records.changeState { state in
            (state.synced, state.nextSync) = (moment, next)
            // A member was removed within an hour of the last renewal, and has keys until the next one.
            if state.epoch != info.epoch, let last = state.epochRenewed {
                state.nextSync = min(next, last + Self.renewalPause)
            }
            state.trouble = nil
            state.isSignedOut = nil
            if isComplete { state.retryFrom = nil }
        }
        if let trouble { throw trouble }
        if let ahead { throw CircleProblem.clock(seconds: ahead) }
        return table.rows.count
    }

    /// Notes whether the clock is off. Once it is right again, everything is fetched: what a wrong clock had refused, or had
    /// deleted as past, the server would not send again.
    private func noteClock(isOff: Bool) async throws {
        guard try await state().isClockOff ?? false != isOff else { return }
        if !isOff, let known = try await records.readableTable() {
            try await records.replaceTable(Self.withoutCursors(known), known: known)
        }
        try await records.changeState { state in
            state.isClockOff = isOff
            if !isOff { (state.membersTag, state.keysTag) = (nil, nil) }
        }
    }

    /// Lets the tables be fetched whole.
    private func fetchTablesWhole() async throws {
        if let known = try await records.readableTable() {
            try await records.replaceTable(Self.withoutCursors(known), known: known)
        }
        try await records.changeState { ($0.membersTag, $0.keysTag) = (nil, nil) }
    }

    /// A table of which everything is fetched next. Pinned identities stay.
    private static func withoutCursors(_ table: CircleTable) -> CircleTable {
        var table = table
        (table.membersCursor, table.keysCursor) = (nil, nil)
        return table
    }

    // MARK: Tables

    /// Fetches what changed, and everything where the table cannot be read. All pages count, or none.
    private func fetchTables() async throws -> CircleTable {
        guard let known = try await records.readableTable() else { return try await fetchTables(beginningWith: nil) }
        do {
            return try await fetchTables(beginningWith: known)
        } catch CircleProblem.refused(410, _, _) {
            // The cursor is too old.
            return try await fetchTables(beginningWith: Self.withoutCursors(known))
        }
    }

    /// - Parameter known: the table before; nil where it cannot be read.
    private func fetchTables(beginningWith known: CircleTable?) async throws -> CircleTable {
        var state = try await state()
        if known == nil { (state.membersTag, state.keysTag) = (nil, nil) }
        let server = try server(state)
        let moment = UInt64(max(0, now))
        var table = known ?? CircleTable()
        table.epoch = state.epoch
        let membersTag = try await fetchMembers(into: &table, server, state, at: moment)
        let keysTag = try await fetchKeys(into: &table, server, state, at: moment)
        table.expireDepartures(at: moment)
        table.expireKeys(today: try Self.day(now))
        // Others may have been forgotten or hidden since.
        let decided = try await self.state()
        let unwanted = decided.blocked.union(decided.hidden).union([decided.number])
        let stored = try await records.readableTable()
        let isPutBack = known == nil && stored != nil && stored != CircleTable()
        // Another process has fetched it, or the record was put back, with its pins. One that has expired is empty.
        if isPutBack, let stored { table = stored }
        for number in unwanted { table.forget(number) }
        if known == nil, !isPutBack {
            // First: what ends after this must not hide it.
            try await records.changeState { state in
                (state.pinsLost, state.isLossReported) = (Double(moment), false)
                (state.membersTag, state.keysTag, state.hasTable) = (nil, nil, true)
            }
        }
        if stored == nil { try await records.removeTable() }
        try await records.replaceTable(table, known: stored)
        try await records.changeState { [table] state in
            // An empty one is not stored where there was none.
            if stored == nil || table != CircleTable() { state.hasTable = true }
            guard !isPutBack else { return }
            state.membersTag = membersTag
            state.keysTag = keysTag
        }
        return table
    }

    private func fetchMembers(
        into table: inout CircleTable, _ server: CircleServer, _ state: CircleRecords.State, at moment: UInt64
    ) async throws -> String? {
        let isWhole = table.membersCursor == nil
        var seen: Set<UInt32> = []
        var hasChanged = false
        let tag = try await forEachPage("members", from: table.membersCursor, server, tag: state.membersTag) { answer in
            let object = try answer.object("a page of members")
            guard let cursor = object["cursor"]?.string, cursor.utf8.count <= KeyPage.maximumCursor,
                let epoch = object["epoch"]?.integer.flatMap({ UInt32(exactly: $0) })
            else { throw CircleProblem.malformed("a page of members") }
            table.epoch = max(table.epoch, epoch)
            for row in (object["members"]?.array ?? []).compactMap(\.object) {
                table.take(row: row, in: server.scope, at: moment)
                if let number = row["number"]?.integer.flatMap({ UInt32(exactly: $0) }) { seen.insert(number) }
            }
            for number in object["gone"]?.array ?? [] {
                if let number = number.integer.flatMap({ UInt32(exactly: $0) }) { table.depart(number, at: moment) }
                hasChanged = true
            }
            hasChanged = hasChanged || object["members"]?.array?.isEmpty == false
            table.membersCursor = cursor
            return (cursor, object["more"]?.bool ?? false)
        }
        if isWhole, !seen.isEmpty {
            for number in table.rows.keys where !seen.contains(number) { table.depart(number, at: moment) }
        }
        // Before the table is stored: what ends in between must not hide the change from the photos.
        if hasChanged { try await records.changeState { $0.memberChanges = ($0.memberChanges ?? 0) &+ 1 } }
        return tag
    }

    private func fetchKeys(
        into table: inout CircleTable, _ server: CircleServer, _ state: CircleRecords.State, at moment: UInt64
    ) async throws -> String? {
        try await forEachPage("keys", from: table.keysCursor, server, tag: state.keysTag) { answer in
            let page: KeyPage
            do {
                page = try KeyPage(answer.content)
            } catch {
                throw CircleProblem.malformed("a page of keys")
            }
            table.epoch = max(table.epoch, page.epoch)
            for entry in page.entries { table.take(entry, in: server.scope, at: moment) }
            table.keysCursor = page.cursor
            return (page.cursor, page.hasMore)
        }
    }

    /// Fetches the pages of a table.
    ///
    /// - Returns: the tag for the next fetch, which is known only where nothing has changed.
    private func forEachPage(
        _ what: String, from start: String?, _ server: CircleServer, tag: String?,
        _ take: (CircleServer.Answer) throws -> (cursor: String, more: Bool)
    ) async throws -> String? {
        var cursor = start
        for index in 0..<Self.maximumPages {
            let since = cursor.map { "&since=\($0)" } ?? ""
            let answer = try await server.send(
                .get, "v1/\(what)?limit=\(KeyPage.maximumEntries)\(since)", expecting: [200, 304],
                tag: index == 0 ? tag : nil)
            if answer.status == 304 { return tag }
            let (next, more) = try take(answer)
            guard more else { return next == cursor ? answer.tag : nil }
            guard next != cursor else { throw CircleProblem.malformed("pages that do not go forward") }
            cursor = next
        }
        throw CircleProblem.malformed("more pages than a circle has members")
    }

    /// More than 20,000 rows, a thousand a page.
    private static let maximumPages = 64

    // MARK: Photos

    /// Fetches the packs of all members, so that the server does not learn whose photo is wanted. One whose digest is another is dropped, and those
    /// of who is no member any more, or shows none, are removed.
    ///
    /// Where no row of a member has come since all packs were asked about, and no photo is missing, none is asked about. It is all or
    /// none: a pack that alone is left out would tell the server that this user has forgotten whose photo has changed in it.
    private func fetchPhotos(_ table: CircleTable) async throws {
        let known = try await state()
        guard known.skipsPhotos != true else { return try await records.removePacks(except: []) }
        var wanted: [UInt8: [UInt32: Data]] = [:]
        for (number, row) in table.rows {
            guard let digest = row.photoDigest else { continue }
            wanted[PhotoPack.index(of: number), default: [:]][number] = digest
        }
        try await records.removePacks(except: wanted.keys)
        var tags: [UInt8: String] = [:]
        var isComplete = true
        for (index, digests) in wanted {
            // A photo of an earlier row is missing as one that never came is.
            let (tag, stored) = try await records.pack(
                index, without: { digests[$0] != Data(SHA256.hash(data: $1)) })
            tags[index] = tag
            isComplete = isComplete && stored.isSuperset(of: digests.keys)
        }
        guard !isComplete || known.mustAskForPhotos else { return }
        let server = try server(known)
        for (index, digests) in wanted.sorted(by: { $0.key < $1.key }) {
            let name = (index < 16 ? "0" : "") + String(index, radix: 16)
            let answer: CircleServer.Answer
            do {
                answer = try await server.send(
                    .get, "v1/photos/\(name)", expecting: [200, 304, 404], tag: tags[index])
            } catch CircleProblem.tooMany, CircleProblem.network {
                // Photos come with the next synchronisation.
                return
            }
            guard answer.status == 200, let pack = try? PhotoPack(answer.content) else { continue }
            let valid = pack.photos.filter { number, photo in digests[number] == Data(SHA256.hash(data: photo)) }
            // The user may have decided against them since.
            guard try await state().skipsPhotos != true else { return try await records.removePacks(except: []) }
            try await records.replacePack(index, tag: answer.tag ?? "", PhotoPack(valid))
        }
        // Rows that came meanwhile, for another process, have raised the number that is stored.
        try await records.changeState { $0.photosAskedAt = known.memberChanges ?? 0 }
    }
}

public import Beacons
import Circles
import Foundation
import Handshake
import OAuth

/// What the circle sees of the user, and what this device takes of the others.
extension JoinedCircle {
    /// What the circle sees of the user, and what this device takes of the others.
    public struct Visibility: Sendable, Hashable {
        /// Whether members see the user's photo; nil until the server has said so.
        public let photo: Bool?
        /// Whether the circle has a photo of the user; nil until the server has said so.
        ///
        /// Without one members see none, whatever ``photo`` is: it is missing, or larger than 4096 bytes.
        public let hasPhoto: Bool?
        /// Whether members see the user's batch; nil until the server has said so.
        public let batch: Bool?
        /// Whether members can wave at the user.
        ///
        /// On a new device it is true.
        public let waves: Bool
        /// Whether this device fetches the photos of the others.
        ///
        /// On a new device it is true.
        public let othersPhotos: Bool
        /// From whom the user hides, by number.
        ///
        /// The first synchronisation after joining adds the people from whom the user hides on another device.
        public let hidden: [UserNumber]
        /// The members whom the user has forgotten, by number.
        ///
        /// This device does not recognise them; they still recognise the user. ``JoinedCircle/unhide(_:)`` ends that.
        public let ignored: [UserNumber]
        /// Whether the server has heard of all of it.
        public let isTold: Bool
    }

    /// A change of the visibility. What is nil stays as it is.
    public struct VisibilityChange: Sendable, Hashable {
        public var photo: Bool?
        public var batch: Bool?
        public var waves: Bool?
        public var othersPhotos: Bool?

        public init(photo: Bool? = nil, batch: Bool? = nil, waves: Bool? = nil, othersPhotos: Bool? = nil) {
            self.photo = photo
            self.batch = batch
            self.waves = waves
            self.othersPhotos = othersPhotos
        }

        /// Whether nothing changes.
        public var isEmpty: Bool { self == VisibilityChange() }

        /// Whether a visibility is as it would be after the change.
        func isMet(by visibility: Visibility) -> Bool {
            (photo ?? visibility.photo) == visibility.photo && (batch ?? visibility.batch) == visibility.batch
                && (waves ?? visibility.waves) == visibility.waves
                && (othersPhotos ?? visibility.othersPhotos) == visibility.othersPhotos
        }
    }

    /// What this device knows of the visibility, without a network.
    public func visibility() async throws -> Visibility {
        try await CircleEnvironment.placing {
            let state = try await state()
            let isPublished = try state.isPaused || !mustPublish(state)
            return Visibility(
                photo: state.unsentPhoto ?? state.showsPhoto, hasPhoto: state.hasPhoto,
                batch: state.unsentBatch ?? state.showsBatch, waves: state.takesWaves != false,
                othersPhotos: state.skipsPhotos != true,
                hidden: Self.people(state.hidden), ignored: Self.people(state.blocked.subtracting(state.hidden)),
                isTold: !state.hasNews && isPublished)
        }
    }

    private static func people(_ numbers: Set<UInt32>) -> [UserNumber] {
        numbers.sorted().compactMap { try? UserNumber(Int($0)) }
    }

    /// Asks the server what it shows of the user: another device may have changed it.
    ///
    /// Tells it first what it does not know yet.
    ///
    /// - Returns: whether the server could be asked; ``visibility()`` has its answer.
    public func refreshVisibility() async throws -> Bool {
        try await CircleEnvironment.placing {
            let delivery = try await delivery {
                try await deliverNews()
                let before = try await state()
                try await take(server(before).send(.get, "v1/me"), since: before)
            }
            return delivery == .delivered
        }
    }

    /// Fetches from whom the user hides, once after joining: the user may have decided it on another device.
    ///
    /// It does with those who are new what ``hide(_:)`` does; their rows and photos go with the fetch of the tables. An answer that is older
    /// than a decision, or that is for an earlier membership, is not taken: the next synchronisation asks again.
    func fetchHidden() async throws {
        let before = try await state()
        guard before.hasFetchedHidden != true else { return }
        let what = "the list of people from whom you hide"
        let object = try await server(before).send(.get, "v1/me/hidden").object(what)
        guard let hidden = object["hidden"]?.array else { throw CircleProblem.malformed(what) }
        let listed = Set(hidden.compactMap { $0.integer.flatMap { UInt32(exactly: $0) } })
        // The server may not have heard of these yet.
        let ended = before.unsentUnhides ?? []
        let room = max(Self.maximumHidden - before.hidden.count, 0)
        let people = Set(Self.people(listed.subtracting(before.hidden).subtracting(ended)).prefix(room))
        guard try await state().hasSameHides(as: before) else { return }
        // First: if this is interrupted, the next synchronisation repeats it.
        if !people.isEmpty { try await endContact(with: people) }
        let numbers = try people.map { try Self.number($0) }
        try await records.changeState { state in
            guard state.hasSameHides(as: before) else { return }
            state.hidden.formUnion(numbers)
            for number in numbers { state.removeWaves(at: number) }
            state.hasFetchedHidden = true
        }
        guard !people.isEmpty else { return }
        try await records.noteChange()
        if try await mustPublish(state()) { try await publishKeys() }
    }

    /// From how many people a user can hide: as many as a server takes.
    static let maximumHidden = 20_000

    /// Whether a change would change nothing.
    ///
    /// When this device knows of nothing that would change, the server is asked: another device may have decided otherwise.
    ///
    /// - Returns: nil when the server cannot be asked.
    public func wouldChangeNothing(_ change: VisibilityChange) async throws -> Bool? {
        guard try await change.isMet(by: visibility()) else { return false }
        guard try await refreshVisibility() else { return nil }
        return try await change.isMet(by: visibility())
    }

    /// Changes the visibility.
    ///
    /// It holds on this device from now on. A server that cannot be reached is told at the next synchronisation. Members who
    /// have fetched a photo or a batch see it until they fetch the table again, within six hours.
    ///
    /// - Parameters:
    ///   - change: what is to be different.
    ///   - isTold: whether the server is told now; otherwise at the next synchronisation.
    /// - Returns: whether the server knows it.
    /// - Throws: ``NearbyError``, also for a photo that is too large to be shown.
    @discardableResult
    public func change(_ change: VisibilityChange, tellingNow isTold: Bool = true) async throws -> Delivery {
        try await CircleEnvironment.placing {
            let before = try await state()
            let (changesWaves, changesPhotos) = (
                change.waves.map { $0 != (before.takesWaves != false) } ?? false,
                change.othersPhotos.map { $0 == (before.skipsPhotos == true) } ?? false
            )
            try await records.changeState { state in
                state.unsentPhoto = change.photo ?? state.unsentPhoto
                state.unsentBatch = change.batch ?? state.unsentBatch
                state.takesWaves = change.waves ?? state.takesWaves
                state.skipsPhotos = change.othersPhotos.map { !$0 } ?? state.skipsPhotos
                // The published keys say whether the user takes waves.
                if changesWaves { state.nextPublish = 0 }
                // Photos come with the next synchronisation.
                if changesPhotos { state.nextSync = 0 }
            }
            if change.othersPhotos == false { try await records.removePacks(except: []) }
            if changesWaves || changesPhotos { try await records.noteChange() }
            guard isTold else { return .pending }
            return try await delivery { try await deliverNews() }
        }
    }

    /// Tells the server what it does not know yet, and publishes keys if they are due.
    ///
    /// What it may refuse for good comes last: it must not keep the user from publishing.
    func deliverNews() async throws {
        try await deliverHides()
        if try await state().isIdentityPending == true { try await publishIdentity() }
        try await withdrawKeys()
        if try await mustPublish(state()) { try await publishKeys() }
        try await deliverVisibility()
    }

    /// Tells the server what to show of the user, if it does not know yet.
    ///
    /// What it refuses is not asked for again.
    func deliverVisibility() async throws {
        if let photo = try await state().unsentPhoto { try await deliver("photo", photo, \.unsentPhoto) }
        if let batch = try await state().unsentBatch { try await deliver("batch", batch, \.unsentBatch) }
    }

    private func deliver(
        _ name: String, _ isShown: Bool, _ unsent: any WritableKeyPath<CircleRecords.State, Bool?> & Sendable
    ) async throws {
        let answer: CircleServer.Answer
        do {
            answer = try await server(try await state())
                .send(.put, "v1/me/settings", json: [name: .bool(isShown)])
        } catch CircleProblem.refused(let status, let code, let message) where status < 500 {
            try await forget(isShown, unsent)
            throw CircleProblem.refused(status: status, code: code, message: message)
        }
        try await take(answer)
        try await forget(isShown, unsent)
    }

    /// Another process may have decided otherwise meanwhile.
    private func forget(
        _ sent: Bool, _ unsent: any WritableKeyPath<CircleRecords.State, Bool?> & Sendable
    ) async throws {
        try await records.changeState { if $0[keyPath: unsent] == sent { $0[keyPath: unsent] = nil } }
    }

    /// Takes what the server shows of the user.
    ///
    /// - Parameter before: the state before the server was asked. What another process was told since is newer. Nil for the answer
    ///   to a change.
    private func take(_ answer: CircleServer.Answer, since before: CircleRecords.State? = nil) async throws {
        let row = try answer.object("your row")
        guard let settings = row["settings"]?.object, let photo = settings["photo"]?.bool,
            let batch = settings["batch"]?.bool
        else { throw CircleProblem.malformed("your settings") }
        let hasPhoto = row["photo"]?.object != nil
        try await records.changeState { state in
            state.hasPhoto = hasPhoto
            if let before, (state.showsPhoto, state.showsBatch) != (before.showsPhoto, before.showsBatch) { return }
            (state.showsPhoto, state.showsBatch) = (photo, batch)
        }
    }
}

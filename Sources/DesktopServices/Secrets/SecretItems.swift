#if Desktop
import DBus

extension SecretService {
    static let collectionInterface: InterfaceName = "org.freedesktop.Secret.Collection"
    static let itemInterface: InterfaceName = "org.freedesktop.Secret.Item"
    private static let lockedError: ErrorName = "org.freedesktop.Secret.Error.IsLocked"

    /// Looks up the secret with these attributes; of several, the first one that the service lists.
    ///
    /// - Throws: ``DesktopServicesError`` or `CancellationError`.
    package func lookup(_ attributes: [String: String]) async throws -> Lookup {
        try await placing(locked: .locked) {
            let (found, locked) = try await search(attributes)
            var unlocked = found
            if unlocked.isEmpty, let item = locked.first {
                guard try await unlock([item]) else { return .locked }
                unlocked = [item]
            }
            guard let item = unlocked.first else {
                guard try await defaultCollection() != nil else { return .noCollection }
                return try await isAnyLocked() ? .locked : .absent
            }
            guard let secret = try await secrets(of: [item]).first else {
                // Some services leave out what is locked: the keyring was locked since, or its prompt unlocked nothing.
                let (unlocked, locked) = try await search(attributes)
                return unlocked.isEmpty && locked.isEmpty ? .absent : .locked
            }
            return .found(secret)
        }
    }

    /// Stores a secret in the default collection; replaces one with the same attributes.
    ///
    /// - Parameters:
    ///   - secret: The secret.
    ///   - label: The name in programs that list secrets.
    ///   - attributes: The attributes for look-ups. They are not secret, and may be stored unencrypted.
    /// - Throws: ``DesktopServicesError`` or `CancellationError`.
    package func store(
        _ secret: SecretValue, label: String, attributes: [String: String]
    ) async throws -> Change {
        try await placing(locked: .locked) {
            guard let collection = try await defaultCollection() else { return .noCollection }
            if try await isLocked(collection) {
                guard try await unlock([collection]) else { return .locked }
            }
            let properties: [String: Value] = [
                "org.freedesktop.Secret.Item.Label": .string(label),
                "org.freedesktop.Secret.Item.Attributes": attributes.value,
            ]
            let (_, prompt) = try await service.connection.object(collection, of: service.destination)
                .call("CreateItem", in: Self.collectionInterface, [properties.value, try sealed(secret), true])
                .read(ObjectPath.self, ObjectPath.self)
            return try await complete(prompt) ? .done : .locked
        }
    }

    /// Deletes every secret with these attributes.
    ///
    /// - Returns: ``Change/locked`` when at least one was not deleted, or a locked keyring may have one.
    /// - Throws: ``DesktopServicesError`` or `CancellationError`.
    package func delete(_ attributes: [String: String]) async throws -> Change {
        try await placing(locked: .locked) {
            let (unlocked, locked) = try await search(attributes)
            var areAllDeleted = true
            for item in unlocked + locked {
                if locked.contains(item), try await !unlock([item]) {
                    areAllDeleted = false
                    continue
                }
                let prompt = try await service.connection.object(item, of: service.destination)
                    .call("Delete", in: Self.itemInterface).read(ObjectPath.self)
                if try await !complete(prompt) { areAllDeleted = false }
            }
            guard areAllDeleted else { return .locked }
            if unlocked.isEmpty && locked.isEmpty {
                guard try await defaultCollection() != nil else { return .noCollection }
                return try await isAnyLocked() ? .locked : .absent
            }
            return .done
        }
    }

    private func search(
        _ attributes: [String: String]
    ) async throws -> (unlocked: [ObjectPath], locked: [ObjectPath]) {
        try await service.call("SearchItems", in: Self.interface, [attributes.value])
            .read([ObjectPath].self, [ObjectPath].self)
    }

    private func defaultCollection() async throws -> ObjectPath? {
        let path = try await service.call("ReadAlias", in: Self.interface, ["default"]).read(ObjectPath.self)
        return path == Self.none ? nil : path
    }

    /// Whether a collection is locked, so that no item is known to be absent: KeePassXC finds none in a locked one, and its
    /// default collection is that of the open tab.
    private func isAnyLocked() async throws -> Bool {
        for collection in try await service.property("Collections", of: Self.interface, as: [ObjectPath].self) {
            if try await isLocked(collection) { return true }
        }
        return false
    }

    private func isLocked(_ collection: ObjectPath) async throws -> Bool {
        try await service.connection.object(collection, of: service.destination)
            .property("Locked", of: Self.collectionInterface, as: Bool.self)
    }

    /// Runs `body` and maps its errors; `locked` stands for the service's own error for what is locked.
    private func placing<Result>(locked: Result, _ body: () async throws -> Result) async throws -> Result {
        try await DesktopServicesError.placing(absent: .noSecretService) {
            do {
                return try await body()
            } catch DBusError.remote(let error) where error.name == Self.lockedError {
                return locked
            }
        }
    }

    /// Unlocks collections or items; prompts the user where that is allowed.
    private func unlock(_ objects: [ObjectPath]) async throws -> Bool {
        // An unlock request makes the service prepare a prompt: do not request one that will not be shown.
        guard prompting != .never else { return false }
        let (unlocked, prompt) = try await service.call("Unlock", in: Self.interface, [objects.value])
            .read([ObjectPath].self, ObjectPath.self)
        if Set(objects).isSubset(of: unlocked) { return true }
        return try await complete(prompt)
    }
}

// MARK: Prompts

extension SecretService {
    private static let promptInterface: InterfaceName = "org.freedesktop.Secret.Prompt"

    /// The errors for a prompt whose service has stopped, some of them from its successor.
    private static let stoppedErrors: Set<ErrorName> = [
        .noReply, .serviceUnknown, .nameHasNoOwner, .unknownObject, .unknownInterface, .unknownMethod,
    ]

    /// How the wait for a prompt ends.
    private enum PromptEnd {
        case completed(isDone: Bool)
        case timedOut
        /// The service stopped, or another one has its name: no answer will come.
        case gone
    }

    /// Shows a prompt and waits for the user; the path `/` means no prompt. Returns whether the operation was carried out.
    ///
    /// A cancelled task throws `CancellationError`, and leaves no dialog behind.
    private func complete(_ prompt: ObjectPath) async throws -> Bool {
        if prompt == Self.none { return true }
        let object = service.connection.object(prompt, of: service.destination)
        guard case .upTo(let timeout) = prompting else {
            try await dismiss(object)
            return false
        }
        let end: PromptEnd
        do {
            end = try await show(object, for: timeout)
        } catch DBusError.remote(let error) where Self.stoppedErrors.contains(error.name) {
            // The prompt went with its service. A dismissal could start the service again.
            throw DesktopServicesError.secretServiceStopped
        } catch {
            // Sent without waiting, because a cancelled task cannot wait.
            try? service.connection.send(
                MethodCall("Dismiss", in: Self.promptInterface, of: prompt, at: service.destination))
            throw error
        }
        switch end {
        case .completed(let isDone): return isDone
        case .timedOut:
            try await dismiss(object)
            return false
        case .gone: throw DesktopServicesError.secretServiceStopped
        }
    }

    /// Shows a prompt until the user answers it, the timeout passes, or the service stops.
    private func show(_ prompt: RemoteObject, for timeout: Duration) async throws -> PromptEnd {
        let signals = try await prompt.signals("Completed", of: Self.promptInterface)
        let presence = try await prompt.connection.presence(of: prompt.destination)
        var owners = presence.makeAsyncIterator()
        let owner = try await owners.next()
        // The window identifier is empty, because this program has no window.
        try await prompt.call("Prompt", in: Self.promptInterface, [""])
        let clock = prompt.connection.clock
        return try await withThrowingTaskGroup(of: PromptEnd.self) { group in
            defer { group.cancelAll() }
            group.addTask {
                for try await signal in signals {
                    let isDismissed = try signal.arguments.read(Bool.self)
                    return .completed(isDone: !isDismissed)
                }
                // Signals end without an error only in a cancelled task.
                throw CancellationError()
            }
            group.addTask {
                for try await newOwner in presence where newOwner != owner { return .gone }
                throw CancellationError()
            }
            group.addTask {
                try await clock.sleep(for: min(timeout, .seconds(86_400)))
                return .timedOut
            }
            guard let end = try await group.next() else { throw CancellationError() }
            return end
        }
    }

    /// Dismisses a prompt; ignores that it is gone.
    private func dismiss(_ prompt: RemoteObject) async throws {
        do {
            try await prompt.call("Dismiss", in: Self.promptInterface)
        } catch DBusError.remote {}
    }
}
#endif

public import Beacons
public import Circles
public import Handshake

/// Why a circle could not be used.
public enum CircleProblem: Error, Sendable, Hashable {
    /// The address is none of a circle.
    case address(String)
    /// The circle's server could not be reached.
    case network(TransportError)
    /// The server answered with an error.
    case refused(status: Int, code: String, message: String)
    /// The server answered with something else than a circle does.
    case malformed(String)
    /// This device is signed out of the circle.
    case signedOut
    /// The user is no member any more.
    case removed
    /// The service does not know the user as a member, or the user declined.
    case notAMember
    /// The attempt to join took longer than ten minutes.
    case attemptOver
    /// Too many requests: wait so many seconds.
    case tooMany(seconds: Int)
    /// This device's clock is so many seconds ahead of the server's.
    ///
    /// Keys would be of the wrong time.
    case clock(seconds: Int64)
    /// The user is in no circle, or not in this one.
    case notJoined
    /// The user is in this circle already.
    case alreadyJoined
    /// A circle of this name has its members' numbers from this service.
    ///
    /// Those of the community are from another one, so one person would be taken for another.
    case otherService(String, circle: String, community: String)
    /// A circle of this name gives the user another number than a known circle.
    case otherNumber(UInt32, circle: String, known: UInt32, in: String)
    /// This device cannot read the table of a circle of this name.
    ///
    /// Its members are not recognised until the next synchronisation.
    case unreadableTable(circle: String)
    /// The table of a circle of this name could not be read, and was fetched whole.
    ///
    /// The pinned identities were in it: the server may show others now.
    case pinsLost(circle: String)
    /// Keys of a person cannot be stored: this circle's table is unreadable.
    ///
    /// Only the table says whether the number is another person's.
    case tableNeeded(circle: String)
    /// A record was refused.
    case record(CircleError)
    /// A wave cannot be sent, and why.
    case wave(String)
    /// A member of this name cannot be waved at, because the user takes no waves.
    case wavesOff(name: String)
    /// A member of this circle cannot be waved at, because the user has forgotten them.
    case forgottenMember(UserNumber, circle: String)
}

extension CircleProblem: CustomStringConvertible {
    /// A stable word for programs.
    public var code: String {
        switch self {
        case .address: "circle_address"
        case .network: "circle_unreachable"
        case .refused(_, let code, _): code
        case .malformed: "circle_malformed"
        case .signedOut: "circle_signed_out"
        case .removed: "circle_removed"
        case .notAMember: "not_a_member"
        case .attemptOver: "attempt_over"
        case .tooMany: "too_many_requests"
        case .clock: "clock_differs"
        case .notJoined: "not_joined"
        case .alreadyJoined: "already_joined"
        case .otherService: "circle_other_service"
        case .otherNumber: "circle_other_number"
        case .unreadableTable, .tableNeeded: "circle_table_unreadable"
        case .pinsLost: "circle_identities_lost"
        case .record: "record_refused"
        case .wave, .wavesOff, .forgottenMember: "cannot_wave"
        }
    }

    public var description: String {
        switch self {
        case .address(let problem):
            "This is not the address of a circle: \(problem). Copy it from where the circle is announced"
        case .network(let error): "The circle's server cannot be reached: \(error)"
        case .refused(_, "identity_exists", _):
            "Another device of yours is in this circle with an identity of its own. Leave the circle there first. If that device is lost, replace the identity when you join"
        case .refused(_, "photo_too_large", _):
            "Your photo is too large to be shown. Choose a smaller one at the service, and join again"
        case .refused(let status, _, let message):
            "The circle's server answered with status \(status): “\(message)”. "
                + (status >= 500 ? "Try again later" : "If it happens again, tell the circle's operator")
        case .malformed(let what):
            "The circle's server sent an answer that no circle sends (\(what)). Check the circle's address, or tell its operator"
        case .signedOut: "This device is signed out of the circle. Join it again"
        case .removed: "You are no longer a member of this circle. Remove it from this device"
        case .notAMember:
            "You did not join: the service does not know you as a member, or you declined in the browser. To join, start again and sign in as a member"
        case .attemptOver: "This attempt to join has expired. Start again"
        case .tooMany(let seconds): "The circle got too many requests. Try again in \(seconds) seconds"
        case .clock(let seconds):
            "This device's clock is \(seconds.magnitude) seconds \(seconds > 0 ? "ahead of" : "behind") the circle's. Set the time. Until then nothing is published, others do not recognise you, and you may not recognise them"
        case .notJoined: "You have joined no circle, or not this one. Join one first"
        case .alreadyJoined:
            "You are in this circle already. To join again, leave it first. For a new identity, rotate the present one"
        case .otherService(let service, let circle, let community):
            "The members of \(circle) have their numbers from “\(service)”, and people are known here by their numbers at “\(community)”: one would be taken for another. Nothing was joined. Use a program for that service, or tell the circle's operator if its name is wrong"
        case .otherNumber(let number, let circle, let known, let other):
            "In \(circle) you are number \(number), and in \(other) number \(known). At one service you have one number, so people of the two would be taken for each other. Nothing was joined. Sign in as the member that you are in \(other), or leave \(other) first"
        case .unreadableTable(let circle):
            "The table of \(circle) on this device cannot be read, so its members are not recognised now. \(Self.fetchedAgain)"
        case .pinsLost(let circle):
            "The table of \(circle) on this device could not be read, and the identities by which you knew its members are lost. The circle's server says who they are now. Ask people in person, and pair with them"
        case .tableNeeded(let circle):
            "The table of \(circle) on this device cannot be read. Pairing, and adding a friend's keys, need it to see whether the number is another person's. Nothing was stored. \(Self.fetchedAgain)"
        case .record(let error): "\(error)"
        case .wave(let reason): "You cannot wave now: \(reason)"
        case .wavesOff(let name):
            "You cannot wave now: members cannot wave at you in this circle, so \(name) could not answer. Change that in its settings"
        case .forgottenMember(let person, let circle):
            "You cannot wave now: you have forgotten number \(person), so this device ignores that member of \(circle). To wave after your next meeting, stop ignoring the person"
        }
    }

    /// What becomes of a table that cannot be read.
    private static let fetchedAgain =
        "The next synchronisation fetches the members again, without the identities by which you knew them. To keep those, stop Handshake and restore the vault from a backup first"
}

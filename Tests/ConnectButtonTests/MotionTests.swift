import Testing

@testable import ConnectButton

@Suite("How the button moves")
struct MotionTests {
    private let mark = CheckMark.standard

    @Test("a curve is CSS's curve of the same numbers", arguments: try Vectors.read().curves)
    func curve(_ vector: Vectors.Curve) throws {
        let motion = ConnectButtonMotion.standard
        let curves = ["easeInOut": motion.easeInOut, "easeIn": motion.easeIn, "easeOut": motion.easeOut]
        let curve = try #require(curves[vector.curve])
        #expect(abs(curve.progress(at: vector.time) - vector.progress) < 1e-5)
    }

    @Test("before its beginning a curve is at 0, after its end at 1, and never undecided")
    func curveEnds() {
        let curve = ConnectButtonMotion.standard.easeInOut
        #expect(curve.progress(at: -1) == 0)
        #expect(curve.progress(at: 2) == 1)
        #expect(curve.progress(at: .nan) == 0)
        #expect(TimingCurve(-3, 0, 9, 1) == TimingCurve(0, 0, 1, 1))
    }

    @Test(
        "F015: the shake is the dossier's spring: ten points out in a tenth of a second, then m 1, k 1000, c 7",
        arguments: try Vectors.read().shakes)
    func shake(_ vector: Vectors.Shake) {
        let shake = RefusalShake.standard
        // At its very end the pill is put to rest.
        let wanted = vector.seconds < shake.duration ? vector.points : 0
        #expect(abs(shake.offset(at: vector.seconds) - wanted) < 0.001)
    }

    @Test("a shake ends where it began, with less than a third of a point left to jump")
    func shakeEnds() {
        let shake = RefusalShake.standard
        #expect(shake.offset(at: 0) == 0)
        #expect(shake.offset(at: shake.duration) == 0)
        #expect(shake.offset(at: -1) == 0)
        #expect(shake.offset(at: .nan) == 0)
        #expect(abs(shake.offset(at: shake.duration.nextDown)) < 1.0 / 3)
    }

    struct Moment: Sendable {
        let fraction, square, icon, size, field: Double
    }

    private static let moments: [Moment] = [
        Moment(fraction: 0, square: 0, icon: 1, size: 62, field: 0),
        Moment(fraction: 0.25, square: 0, icon: 1, size: 62, field: 0),
        Moment(fraction: 0.625, square: 0.5, icon: 0.5, size: 66, field: 0),
        Moment(fraction: 0.7, square: 0.6, icon: 0.4, size: 66.8, field: 0),
        Moment(fraction: 0.85, square: 0.8, icon: 0.2, size: 68.4, field: 0.5),
        Moment(fraction: 1, square: 1, icon: 0, size: 70, field: 1),
    ]

    @Test(
        "4.5: the morph squares the knob from 25 %, brings the field from 70 %, and ends at the confirm button's size",
        arguments: moments)
    func morph(_ moment: Moment) {
        let morph = EmailMorph(fraction: moment.fraction)
        #expect(morph.ground == moment.fraction && morph.place == moment.fraction)
        #expect(morph.shadow == 1 - moment.fraction)
        #expect(abs(morph.squareness - moment.square) < 1e-9)
        #expect(abs(morph.icon - moment.icon) < 1e-9)
        #expect(abs(morph.scale * 62 - moment.size) < 1e-9)
        #expect(abs(morph.field - moment.field) < 1e-9)
        #expect(abs(morph.knob - (1 - moment.field)) < 1e-9)
    }

    private static let strays: [Double] = [-1, 2, .infinity, -.infinity, .nan]

    @Test("a morph stays between its ends", arguments: strays)
    func morphEnds(_ fraction: Double) {
        #expect([0, 1].contains(EmailMorph(fraction: fraction).fraction))
    }

    @Test(
        "F010: a release goes on towards its end with the finger's velocity, counted in the way that is left",
        arguments: [
            (KnobDrag.Aim.on, 0.6, 2.0, true, 5.0), (.on, 0.6, -2, false, 50.0 / 15), (.on, 0.3, 0, false, 0),
            (.off, 0.75, -0.5, true, -2), (.off, 0.25, 1, false, -4), (.on, 0.999, 3, true, 50), (.on, 1, 1, true, 0),
        ])
    func release(_ aim: KnobDrag.Aim, _ fraction: Double, _ velocity: Double, _ completes: Bool, _ push: Double) {
        let release = KnobDrag(aim, width: 329).release(fraction: fraction, velocity: velocity)
        #expect(release.completes == completes && abs(release.velocity - push) < 1e-6)
    }

    @Test("4.1: the check mark is 42 wide, its tick has arms of 7 and 14 at a right angle, inside the ring")
    func tick() {
        func vector(_ from: CheckMark.Point, _ to: CheckMark.Point) -> (x: Double, y: Double) {
            (to.x - from.x, to.y - from.y)
        }
        func length(_ vector: (x: Double, y: Double)) -> Double {
            (vector.x * vector.x + vector.y * vector.y).squareRoot()
        }
        let geometry = ConnectButtonGeometry.standard
        #expect(mark.side == 42 && geometry.checkMarkLine == 3)
        let (short, long) = (vector(mark.tick[1], mark.tick[0]), vector(mark.tick[1], mark.tick[2]))
        #expect(abs(length(long) - geometry.checkMarkArm) < 0.05)
        #expect(abs(length(short) - geometry.checkMarkArm / 2) < 0.1)
        #expect(abs(short.x * long.x + short.y * long.y) < 0.1)
        for corner in mark.tick {
            #expect(length(vector(CheckMark.Point(x: 21, y: 21), corner)) < 21 - 3)
        }
    }

    @Test("4.5: the ring takes 0.4 s, the dot's flight 0.75 s, the tick 0.3 s after it")
    func markTimes() {
        #expect(mark.frame(at: 0) == CheckMark.Frame(ring: 0, dot: CheckMark.Point(x: 18, y: 21), tick: 0))
        #expect(mark.frame(at: 0.399).ring < 1)
        #expect(mark.frame(at: 0.4).ring == 1)
        #expect(mark.frame(at: 0.749).dot != nil)
        #expect(mark.frame(at: 0.749).tick == 0)
        #expect(mark.frame(at: 0.75).dot == nil)
        #expect(mark.frame(at: 0.9).tick > 0.5)
        #expect(mark.frame(at: 1.0501).tick == 1)
        #expect(mark.duration == 1.5, "it stands still for 0.45 s (MO18)")
    }

    @Test(
        "MO18: the dot curls from left of the centre by the left edge of a square of 72 to where the tick begins",
        arguments: try Vectors.read().dots)
    func dot(_ vector: Vectors.Dot) throws {
        let dot = try #require(mark.frame(at: vector.seconds).dot)
        #expect(abs(dot.x - vector.x) < 0.001 && abs(dot.y - vector.y) < 0.001)
    }

    @Test("only a successful attempt ends with a check mark", arguments: try Vectors.read().arrivals)
    func arrivals(_ vector: Vectors.Arrival) throws {
        let before = try #require(ConnectButtonState.Step(rawValue: vector.from))
        let now = try #require(ConnectButtonState.Step(rawValue: vector.to))
        #expect(ConnectButtonLook.celebrates(from: before, to: now) == vector.celebrates)
    }
}

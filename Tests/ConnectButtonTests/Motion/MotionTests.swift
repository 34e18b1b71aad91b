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
        #expect(abs(shake.offset(at: vector.seconds) - vector.points) < 0.001)
    }

    @Test("MO13: the shake is ten points out after 0.1 s, seven over after 0.2 s, and under a tenth after 1.5 s")
    func shakeEnds() {
        let shake = RefusalShake.standard
        #expect(abs(shake.offset(at: 0.1) + 10) < 0.5 && abs(shake.offset(at: 0.2) - 7) < 0.5)
        for time in stride(from: 1.5, to: 2.5, by: 1 / 60) { #expect(abs(shake.offset(at: time)) < 0.1) }
        for time in [0, -1, .nan, shake.duration] { #expect(shake.offset(at: time) == 0) }
        #expect(abs(shake.offset(at: shake.duration.nextDown)) < 0.05)
    }

    @Test("F009, MO8: the knob stays under the finger, and never leaves its way", arguments: try Vectors.read().drags)
    func drag(_ vector: Vectors.Drag) {
        let drag = KnobDrag(
            vector.isOn ? .off : .on, way: vector.way, grip: vector.grip, isRightToLeft: vector.isRightToLeft)
        #expect(abs(drag.fraction(at: vector.x) - vector.fraction) < 1e-9)
        for stray in [Double.nan, .infinity, -.infinity] { #expect(drag.fraction(at: stray) == 0) }
    }

    @Test(
        "MO10: a released knob ends at its end, never leaves its way, and begins with the finger's speed",
        arguments: [0.05, 0.3, 0.5, 0.95], [-8.0, -0.2, 0, 0.2, 3, 40])
    func release(_ from: Double, _ velocity: Double) {
        for (target, seconds) in [(1.0, 0.4), (1, 0.5), (0, 0.4)] {
            let spring = ReleaseSpring(from: from, target: target, velocity: velocity, duration: seconds)
            let places = (0...60).map { spring.fraction(at: Double($0) / 60 * seconds) }
            #expect(places.allSatisfy { (0...1).contains($0) } && abs(places[0] - from) < 1e-9 && places[60] == target)
            #expect(abs(spring.fraction(at: seconds.nextDown) - target) * 288 < 1, "less than a point to jump")
            let speed = (spring.fraction(at: 1e-6) - from) / 1e-6
            #expect(abs(speed - velocity) < 0.02 + abs(velocity) * 0.01)
        }
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

    @Test(
        "MO18: the dot curls from left of the centre by the left edge of a square of 72 to where the tick begins",
        arguments: try Vectors.read().dots)
    func dot(_ vector: Vectors.Dot) throws {
        let dot = mark.dot(at: try #require(Timeline.arriving.value(of: .dot, at: vector.seconds)))
        #expect(abs(dot.x - vector.x) < 0.001 && abs(dot.y - vector.y) < 0.001)
    }

    @Test("only a successful attempt ends with a check mark", arguments: try Vectors.read().arrivals)
    func arrivals(_ vector: Vectors.Arrival) throws {
        let before = try #require(ConnectButtonState.Step(rawValue: vector.from))
        let now = try #require(ConnectButtonState.Step(rawValue: vector.to))
        #expect(ConnectButtonLook.celebrates(from: before, to: now) == vector.celebrates)
    }
}

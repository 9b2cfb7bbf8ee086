import IoTCore
import MediaPlayer
import NIOEmbedded
import Testing

@testable import MediaChannel

/// What a live channel shows while its user changes it.
@Suite final class OwnPictureTests {
    private var ended: [String] = []
    private var losses: [ErrorCode] = []
    private lazy var picture = OwnPicture(
        feed: CallFeed(eventLoop: EmbeddedEventLoop(), onCandidate: { _ in }, onConnection: { _, _ in }),
        capabilities: PlayerCapabilities(of: .live)
    ) { [unowned self] in losses.append($0.code) }

    private func began(_ camera: String, _ number: Int) throws(IoTError) {
        try picture.began(camera, number) { [unowned self] in ended.append(camera) }
    }

    private func show(_ camera: String) throws -> Int {
        let number = try picture.beginChange()
        try began(camera, number)
        return number
    }

    @Test("What is shown stays until the change has its first pictures; then it ends")
    func change() throws {
        _ = try show("desk")
        let number = try picture.beginChange()
        #expect(picture.camera == "desk" && ended.isEmpty)
        picture.send([], number)
        #expect(picture.camera == nil && ended == ["desk"])
        try began("yard", number)
        #expect(picture.camera == "yard" && ended == ["desk"])
    }

    @Test("A change whose camera cannot be opened changes nothing, also for one that had its pictures but not its end")
    func failedChange() throws {
        _ = try show("desk")
        let number = try picture.beginChange()
        picture.send([], number)
        // The camera of a newer change cannot be opened, so it does not begin.
        _ = try picture.beginChange()
        try began("yard", number)
        #expect(picture.camera == "yard" && ended == ["desk"])
    }

    @Test("A newer change replaces an older one that has sent nothing, whichever camera opens first")
    func replaced() throws {
        let older = try picture.beginChange()
        _ = try show("yard")
        let error = #expect(throws: IoTError.self) { try began("desk", older) }
        #expect(error?.code == .hungUp && picture.camera == "yard" && ended.isEmpty)
        picture.hide(older)
        #expect(picture.camera == "yard")
        picture.hide(try picture.beginChange())
        #expect(picture.camera == nil && ended == ["yard"])
    }

    @Test("A camera that ends is reported once; one that ends before its change is complete fails the change")
    func lost() throws {
        let number = try show("desk")
        for _ in 0..<2 { picture.ended(number, IoTError(.cameraOff)) }
        #expect(losses == [.cameraOff] && picture.camera == nil && ended == ["desk"])
        for isSending in [false, true] {
            let number = try picture.beginChange()
            if isSending { picture.send([], number) }
            picture.ended(number, IoTError(.relationInvalid))
            let error = #expect(throws: IoTError.self) { try began("yard", number) }
            #expect(error?.code == .relationInvalid && losses == [.cameraOff] && picture.camera == nil)
        }
    }

    @Test("The end of the channel ends what is shown, and refuses changes with its reason; other channels show nothing")
    func close() throws {
        let number = try show("desk")
        let unfinished = try picture.beginChange()
        picture.close(IoTError(.relationChanged))
        picture.close(IoTError(.hungUp))
        #expect(ended == ["desk"] && picture.camera == nil)
        picture.ended(number, IoTError(.cameraOff))
        #expect(losses.isEmpty)
        let refused = #expect(throws: IoTError.self) { try picture.beginChange() }
        let late = #expect(throws: IoTError.self) { try began("yard", unfinished) }
        #expect(refused?.code == .relationChanged && late?.code == .relationChanged && picture.camera == nil)
        let monitor = OwnPicture(
            feed: CallFeed(eventLoop: EmbeddedEventLoop(), onCandidate: { _ in }, onConnection: { _, _ in }),
            capabilities: PlayerCapabilities(of: .monitor), onLoss: { _ in })
        let error = #expect(throws: IoTError.self) { try monitor.beginChange() }
        #expect(error?.code == .operationNotAllowed)
    }
}

import IoTCore
import IoTLink
import ThingModel

/// One row that a mutation changes.
enum StoreChange: Sendable, Hashable {
    case putUser(AccessID, UserRecord)
    /// With its bindings.
    case removeUser(AccessID)
    case putDevice(DeviceID, DeviceRecord)
    /// With its bindings, model and events.
    case removeDevice(DeviceID)
    case bind(AccessID, DeviceID, Binding)
    case unbind(AccessID, DeviceID)
    case addToken(TokenRecord)
    case removeToken(String)
    case addKey(KeyRecord)
    case removeKey(String)
    /// Its last use: s since 1970.
    case use(ShownCredential, at: Int64)
    case putEnrolment(EnrolmentRecord)
    case removeEnrolment(String)
    case putRegistration(Principal, Registration)
    case removeRegistration(Principal)
    case putCall(OpenCall)
    case removeCall(OpenCall.Key)
    /// A new or changed schema.
    case putModel(DeviceID, schema: String, version: Int64)
    /// The document's version; only the last one of a transaction is written.
    case modelVersion(DeviceID, Int64)
    case putProperty(DeviceID, StoredProperty)
    /// A new value; what the device carries out stays as it was.
    case writeProperty(DeviceID, PropertyChange)
    /// What the device now carries out, unless it is older than what is known.
    case applied(DeviceID, path: String, version: Int64)
    case removeProperty(DeviceID, path: String)
    /// `of`: in whose name it was asked.
    case answer(number: Int64, AnswerIndex.Key, RequestContent, of: Principal, at: Int64, reply: [UInt8])
    case forgetAnswers([ClosedRange<Int64>])
    case addEvent(EventRecord)
    case deleteEvents([Int64])
    /// The oldest of a device.
    case trimEvents(DeviceID, count: Int)
}

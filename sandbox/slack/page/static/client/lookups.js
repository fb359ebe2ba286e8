// Look-ups over what one person sees: people, groups and channels by id.

const byId = (list) => new Map(list.map((each) => [each.id, each]));

const marks = new Map();

/** A short name for these names: the same as long as they are. */
function markOf(names) {
  const text = JSON.stringify(names);
  if (!marks.has(text)) marks.set(text, marks.size);
  return marks.get(text);
}

export function worldOf(see, me, openChannel) {
  const { people = [], groups = [], channels = [] } = see;
  const [peopleById, groupsById, channelsById] = [people, groups, channels].map(byId);
  return {
    me, people, groups, channels, openChannel,
    // Changes when a name that a message shows has changed, or the zone that its times are in.
    mark: markOf([people, groups, channels.map((each) => [each.id, each.name]), peopleById.get(me)?.tz]),
    person: (id) => peopleById.get(id),
    group: (id) => groupsById.get(id),
    channel: (id) => channelsById.get(id),
    nameOf: (person) => person?.real_name || person?.name || person?.id || "",
  };
}

/** The channel a person or an address means: by id or name; `app` is the direct message with the app. */
export function findChannel(see, wanted) {
  return see?.channels.find((each) => each.id === wanted || each.name === wanted || (each.is_im && wanted === "app")) ?? null;
}

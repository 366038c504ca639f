/** Subjects of posts in the demo data: tools, measuring, building sites and their people. */
import type { Subject } from './subject.ts';

/** Lists the subjects. */
export const CRAFT: readonly Subject[] = [
  {
    name: 'bolted splices',
    tags: ['steel', 'fasteners', 'site'],
    facts: [
      'Tighten from the stiffest part towards the free edges, or the first bolts will be loose when you reach the last.',
      'Friction surfaces want to be clean and bare; one streak of paint costs a third of the grip.',
      'Never use a galvanised bolt of that grade twice, however good it looks.',
      'Mark each nut with a line of paint, and the next inspector will see at a glance what has turned.',
    ],
  },
  {
    name: 'weld inspection',
    tags: ['steel', 'maintenance', 'tools'],
    facts: [
      'Begin with your eyes, a torch and a wire brush; the ultrasound comes later.',
      'Cracks start where the weld starts and stops, so look at the ends first.',
      'Magnetic particles find what is open at the surface, and nothing else.',
      'A beautiful weld in the wrong place is still a notch.',
    ],
  },
  {
    name: 'corrosion protection',
    tags: ['steel', 'maintenance'],
    facts: [
      'Nine tenths of a coating’s life is decided before the tin is opened, by the blasting.',
      'Zinc protects a scratch by giving itself up, which paint has never done for anybody.',
      'Round off the edges: paint draws back from a sharp corner while it dries.',
      'Measure the dew point. Steel that looks dry often is not.',
    ],
  },
  {
    name: 'formwork',
    tags: ['concrete', 'timber', 'site'],
    facts: [
      'Fresh concrete presses like water two and a half times as heavy, all the way down.',
      'What you build in timber today is what everybody will look at in concrete for eighty years.',
      'Oil it thinly; too much leaves brown clouds on the face.',
      'Strike the sides early and the props late.',
    ],
  },
  {
    name: 'load tests',
    tags: ['survey', 'design', 'community'],
    facts: [
      'Forty lorries full of gravel make a village remember the day for a generation.',
      'What matters is that the deflection comes back when the load goes.',
      'Read the gauges before dawn, while the sun has not yet bent the deck by itself.',
      'Write down the prediction first; a test without one is only a demonstration.',
    ],
  },
  {
    name: 'levelling and survey marks',
    tags: ['survey', 'beginners', 'site'],
    facts: [
      'Equal sights forwards and back cancel most of what is wrong with the instrument, and all of what is wrong with the Earth.',
      'Close the loop. If it does not close, you have learned something.',
      'Put three marks where nobody parks, because one of them will vanish.',
      'A staff bubble that is off by two degrees is the most expensive small thing on a site.',
    ],
  },
  {
    name: 'drawing by hand',
    tags: ['design', 'tools', 'beginners'],
    facts: [
      'A sketch at one to twenty shows at once whether a spanner fits between the bolts.',
      'Draw the load path in red and you will see where it stops.',
      'The pencil is slow, and that is its use: it gives the thought time to catch up.',
      'Date every sheet. The sketch you throw away is the one they ask for.',
    ],
  },
  {
    name: 'scale models',
    tags: ['models', 'design', 'beginners'],
    facts: [
      'Halve the size and the weight goes down by eight while the strength goes down by four; models flatter.',
      'Basswood for trusses, cardboard for folds, and soap film for anything with tension.',
      'Let the clients load it with their own hands. They will never forget which member was blue with strain.',
      'Photograph it from the height of a tiny person’s eyes.',
    ],
  },
  {
    name: 'torque wrenches',
    tags: ['tools', 'fasteners', 'beginners'],
    facts: [
      'Torque is only a guess at tension; half of it goes into friction below the head, and much of the rest into the thread.',
      'Turn it back to its lowest setting before you put it away, and have it checked every year.',
      'Pull steadily until it clicks, and then stop. The second click is damage.',
      'A drop of oil changes the result by a fifth, so follow the sheet: dry means dry.',
    ],
  },
  {
    name: 'sharp chisels',
    tags: ['tools', 'timber', 'beginners'],
    facts: [
      'A flat back is half of the edge, and it needs doing only once.',
      'Twenty-five degrees for paring and thirty for the mallet will see you through most days.',
      'Stop when you feel the burr on the other side; more is only wear.',
      'A sharp chisel is safer than a dull one, because it goes where you look.',
    ],
  },
  {
    name: 'temporary works',
    tags: ['safety', 'site', 'design'],
    facts: [
      'The scaffold fails more often than the bridge, because nobody signs it with the same care.',
      'Ask who may remove this prop. If there is no name, it is the first visitor with a hammer.',
      'Ground that carried the crane in August is soup in November.',
      'A red tag and a signature cost nothing, and have saved more lives than any formula.',
    ],
  },
  {
    name: 'rope access',
    tags: ['safety', 'site', 'maintenance'],
    facts: [
      'Two ropes, two anchors, two people: everything that matters comes in pairs.',
      'Tie the tools to yourself, for there is always a canoe below.',
      'The rescue plan is part of the work plan, and it is rehearsed before breakfast.',
      'From a rope you see the underside as the water sees it, and you find things that no drone has found.',
    ],
  },
  {
    name: 'bridge inspections',
    tags: ['maintenance', 'beginners', 'safety'],
    facts: [
      'Walk across, walk below, then stand still for ten minutes while the traffic shows you how it moves.',
      'A photograph without a scale and a direction is a souvenir.',
      'Compare with last time: a crack that has not moved for thirty years is a wrinkle.',
      'Birds nest where it is dry and people pry where it is loose, so follow both.',
    ],
  },
  {
    name: 'moving heavy loads',
    tags: ['site', 'tools', 'safety'],
    facts: [
      'Slow is smooth: a girder of eighty tonnes that moves a metre a minute can be stopped by a hand signal.',
      'Know where the centre of gravity is before it shows you.',
      'Soap on oak still beats many a clever sliding pad.',
      'Only one person speaks on the radio, and everybody may shout stop.',
    ],
  },
  {
    name: 'hoists and slings',
    tags: ['tools', 'safety', 'site'],
    facts: [
      'At sixty degrees between the legs each one carries a good half; at a hundred and twenty each carries all of it.',
      'Look at the label first. No label, no lift.',
      'A knot halves the strength of a rope, and a sharp edge takes the rest.',
      'Lift it a hand’s breadth, wait, look, and only then go on.',
    ],
  },
  {
    name: 'morning safety briefings',
    tags: ['safety', 'site', 'community'],
    facts: [
      'Five minutes, standing, in the weather in which the work will be.',
      'Ask the youngest what could go wrong today; they have not yet learned to look away.',
      'Thank somebody for a stop that turned out to be needless, and you will get the stop that is not.',
      'End with the tide table.',
    ],
  },
  {
    name: 'cost estimates',
    tags: ['design', 'beginners'],
    facts: [
      'Measure the work and price the access: half of the money is in getting there.',
      'A contingency of zero is not optimism, it is arithmetic left out.',
      'The cheapest girder is the one that fits on an ordinary lorry.',
      'Keep the old estimates beside the final bills, and you own a book that no shop sells.',
    ],
  },
  {
    name: 'community footbridges',
    tags: ['community', 'timber', 'design'],
    facts: [
      'The first meeting is about who sweeps the snow; the span comes later.',
      'A bridge that the village has built is a bridge that the village repairs.',
      'Choose sizes that can be bought in the next town in twenty years.',
      'The children crossed before the paint was dry, and nobody had the heart to call them back.',
    ],
  },
  {
    name: 'maintenance plans',
    tags: ['maintenance', 'community', 'beginners'],
    facts: [
      'Clean the gullies in November and half of your budget is safe.',
      'Write the plan for the person who has never seen the bridge and comes in the rain.',
      'Small repairs done yearly beat the large one that is always next year.',
      'A list with names and dates is a plan; one without is a wish.',
    ],
  },
  {
    name: 'old hand tools',
    tags: ['tools', 'history', 'timber'],
    facts: [
      'An adze asks for respect and sound boots, and then leaves a surface that sheds water better than any plane.',
      'Soak a loose handle overnight if you need it tomorrow, and fit a new wedge if you need it next year.',
      'Rust is mostly shallow: vinegar, a day of patience, and a brush.',
      'The initials on the handle are three owners deep, and all three set the teeth the same way.',
    ],
  },
  {
    name: 'night shifts over the railway',
    tags: ['site', 'safety', 'steel'],
    facts: [
      'Possession starts at one and ends at five, and the last train is always late.',
      'Count the spanners before and after; a forgotten one can stop a railway.',
      'Everything is rehearsed by day on the ground, with tape for the rails.',
      'The best sound is the first morning train that does not notice you were there.',
    ],
  },
  {
    name: 'teaching statics to children',
    tags: ['models', 'community', 'beginners'],
    facts: [
      'Let two of them lean back to back and slide apart: now they know what thrust is.',
      'A sheet of paper is a poor bridge until you fold it.',
      'They guess better than students, since they have not yet learned to be afraid of the answer.',
      'Break something in every lesson, and let them choose where it will break first.',
    ],
  },
];

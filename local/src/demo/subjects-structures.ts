/** Subjects of posts in the demo data: bridges, their parts, and the forces on them. */
import type { Subject } from './subject.ts';

/** Lists the subjects. */
export const STRUCTURES: readonly Subject[] = [
  {
    name: 'timber trestles',
    tags: ['timber', 'history', 'design'],
    facts: [
      'A trestle carries its load by many short legs instead of a few long spans, so each piece can be small enough for two people to lift.',
      'The outer legs lean outwards, about one in six, and that batter is what keeps the bent from swaying.',
      'Most of them fail at the ground line, where the wood is never quite wet and never quite dry.',
      'A bent can be replaced under traffic if you jack the cap a finger’s width and keep your nerve.',
    ],
  },
  {
    name: 'riveted joints',
    tags: ['steel', 'fasteners', 'history'],
    facts: [
      'A hot rivet shrinks as it cools and clamps the plates together; half of the strength is friction.',
      'Tap the head with a small hammer: a sound rivet rings, a loose one answers with a dull click.',
      'Rust between the plates pushes them apart with astonishing force, and engineers call it pack rust.',
      'A fitted bolt with a rounded head is an honest replacement, as long as nobody pretends that it is a rivet.',
    ],
  },
  {
    name: 'Warren trusses',
    tags: ['steel', 'design', 'beginners'],
    facts: [
      'Its diagonals take turns: one is pulled, the next is pushed, and no member is there for show.',
      'James Warren patented it in 1848, and it still wins most student competitions.',
      'Add verticals when the panels grow long, or the chord between two joints will bend under the deck.',
      'If you can find the zero-force members at a glance, you have understood the method of joints.',
    ],
  },
  {
    name: 'stress-ribbon footbridges',
    tags: ['concrete', 'design'],
    facts: [
      'The deck hangs in its own cables and looks as if somebody had drawn it with one stroke.',
      'All the drama is in the abutments, which must hold back hundreds of tonnes that nobody sees.',
      'A sag of one in fifty is pleasant to walk on; much less and the pull grows out of hand.',
      'People notice the bounce before the engineers do, so test it with a running club.',
    ],
  },
  {
    name: 'suspension cables',
    tags: ['steel', 'design', 'maintenance'],
    facts: [
      'A main cable is thousands of parallel wires, each no thicker than a pencil, laid one loop at a time.',
      'Dry air blown through the cable does more against corrosion than another coat of paint.',
      'Under its own weight a cable hangs as a catenary; hang a level deck from it and it becomes a parabola.',
      'When a wire breaks, friction takes its load up again within a few metres, and that is why nobody notices.',
    ],
  },
  {
    name: 'stone arches',
    tags: ['masonry', 'history', 'maintenance'],
    facts: [
      'An arch never sleeps, says an old proverb: it pushes outwards all day and all night.',
      'The line of thrust must stay within the stones, best of all in their middle third.',
      'Mortar is there to spread the load, not to glue; lime forgives movement and cement does not.',
      'Four hinges make a mechanism, so three cracks are a warning and a fourth is an appointment.',
    ],
  },
  {
    name: 'scour around piers',
    tags: ['foundations', 'maintenance', 'site'],
    facts: [
      'More bridges are lost to moving water than to everything else together.',
      'The flood digs the hole and fills it again as it falls, so the sonar of the morning after tells you nothing.',
      'A buried float that breaks free at a set depth is the cheapest alarm there is.',
      'Riprap works when the stones are large enough, and graded, and on a filter; two out of three is not enough.',
    ],
  },
  {
    name: 'expansion joints',
    tags: ['maintenance', 'design', 'steel'],
    facts: [
      'A hundred metres of steel grow by about four centimetres between January and July.',
      'The joint is the part that wears first, leaks first and is blamed last.',
      'Where water runs through the joint, look at the bearing below before you look at anything else.',
      'An integral bridge has no joints at all and leaves the movement to the soil behind its abutments.',
    ],
  },
  {
    name: 'elastomeric bearings',
    tags: ['design', 'maintenance'],
    facts: [
      'Rubber with steel plates inside is stiff when pressed and soft when pushed sideways: exactly what a bridge wants.',
      'A little bulge between the plates is healthy; a split at the edge is not.',
      'Write the temperature on the drawing when you set them, or somebody will set them straight on the wrong day.',
      'Leave room for jacks in the first design, and your grandchildren will think well of you.',
    ],
  },
  {
    name: 'weathering steel',
    tags: ['steel', 'maintenance', 'design'],
    facts: [
      'It protects itself with a dense rust, provided that it can get wet and dry again in turns.',
      'Leaves in a corner are enough to keep it damp, and then it rusts like any other steel.',
      'Detail the drips, or the pier below will wear brown stripes for ever.',
      'Near the sea, salt keeps the patina from ever becoming tight.',
    ],
  },
  {
    name: 'glued laminated timber',
    tags: ['timber', 'design'],
    facts: [
      'Thin boards dry evenly, so a beam of boards is straighter and stronger than a beam of one tree.',
      'The glue line should never be what fails; in a good test the wood tears beside it.',
      'Cover the top and let the sides breathe: wood hates standing water, not rain.',
      'Curved beams cost little more, because the boards are bent before they know that they are a beam.',
    ],
  },
  {
    name: 'prestressed concrete',
    tags: ['concrete', 'design', 'history'],
    facts: [
      'Squeeze concrete before it is loaded and it forgets that it cannot be pulled.',
      'Freyssinet’s insight was that it takes high-strength steel, since creep eats up the stretch of any other.',
      'A duct without grout is a promise that somebody else will have to keep.',
      'Mind the losses: friction, creep, shrinkage, relaxation, in the order in which they surprise you.',
    ],
  },
  {
    name: 'wind and resonance',
    tags: ['wind', 'design', 'history'],
    facts: [
      'What brought down Tacoma Narrows was flutter, which feeds on the motion of the deck itself.',
      'A deck shaped like a wing, with a gap in its middle, lets the wind through and stays calm.',
      'Soldiers break step on bridges since Broughton in 1831, and so they should.',
      'Ten minutes with a phone’s accelerometer tell you the first mode better than an hour of guessing.',
    ],
  },
  {
    name: 'tuned mass dampers',
    tags: ['wind', 'design'],
    facts: [
      'A small weight on a spring swings against the bridge and takes the energy out of its motion.',
      'One per cent of the moving mass is often enough, if the tuning is right.',
      'On the Millennium Bridge it took thirty-seven viscous dampers and more than fifty tuned masses, and then people could walk as they liked.',
      'Check the tuning after each resurfacing: the deck has put on weight.',
    ],
  },
  {
    name: 'cofferdams',
    tags: ['foundations', 'site', 'safety'],
    facts: [
      'A cofferdam is a hole in a river, and the river would like it back.',
      'Watch the pumps less and the bottom more: when fine sand boils up, get everybody out.',
      'Every strut has two jobs, the load that you calculated and the barge that you did not.',
      'Flood it on purpose before the flood does; cleaning up is cheaper than rebuilding.',
    ],
  },
  {
    name: 'pile driving',
    tags: ['foundations', 'site'],
    facts: [
      'The last ten blows tell you more than the first thousand, so count them honestly.',
      'Soil sets up around the pile overnight; strike again in the morning and you will see it.',
      'A cushion of plywood saves the head of the pile and the ears of the neighbours.',
      'Start in the middle of the group and work outwards, or the last piles will not go in at all.',
    ],
  },
  {
    name: 'bridge drainage',
    tags: ['maintenance', 'design', 'beginners'],
    facts: [
      'There are three enemies of bridges: water, water, and salt water.',
      'A gully that cannot be reached with a shovel will not be cleaned.',
      'Lead the pipe all the way down; a short spout only moves the damage to the next girder.',
      'A fall of two per cent looks like nothing and makes all the difference.',
    ],
  },
  {
    name: 'railings and parapets',
    tags: ['design', 'safety', 'steel'],
    facts: [
      'People lean on a railing before they look at the view, so it is the detail they know best.',
      'A handrail that is round and as thick as a broomstick needs no explanation.',
      'Vertical bars, because children climb everything else.',
      'The anchor must be stronger than the post, and the post should bend before the deck breaks.',
    ],
  },
  {
    name: 'bascule bridges',
    tags: ['movable', 'steel', 'history'],
    facts: [
      'The counterweight does the lifting; the motor only has to win against wind and friction.',
      'Balance it anew after each coat of paint: paint weighs more than you think.',
      'The bridge keeper of my home town could tell the weather from the sound of the pinion.',
      'The lock at the tip must close before the first car, and the sensor must say so, not the clock.',
    ],
  },
  {
    name: 'swing bridges',
    tags: ['movable', 'history', 'maintenance'],
    facts: [
      'It turns on a pivot the size of a dinner plate, and some of them have done so for a century and a half.',
      'On a hot day the long arm grows and jams; the fire brigade comes and cools it with river water.',
      'Wedges lift the ends once it is shut, or the train would hear every gap.',
      'Grease is cheap, and access to the grease nipple is what you have to design.',
    ],
  },
  {
    name: 'covered bridges',
    tags: ['timber', 'history', 'community'],
    facts: [
      'The roof is not for the people: it keeps the truss dry, and so the bridge lives for two hundred years.',
      'Town’s lattice needs nothing but planks and pegs, and that is why farmers could build it.',
      'Sweep the road dust out of the chords in spring; it holds water like a sponge.',
      'In winter they had to carry snow onto the deck, so that the sleighs could cross.',
    ],
  },
  {
    name: 'bamboo bridges',
    tags: ['timber', 'community', 'design'],
    facts: [
      'Cut in the dry season and under a waning moon, say the builders; the dry season is the part that is proven.',
      'Fill the hollow at a bolt with mortar, or the bolt will split the cane.',
      'Good boots and a good hat: keep it off the ground and under a roof.',
      'It bends a long way before it breaks, which is the politest behaviour that a material can have.',
    ],
  },
];
